//! Giving up what a running capture does not need: rights, files, system calls.
//!
//! ```text
//!  root ── open interfaces ──► become_user ── open logs ──► confine ── packets of strangers ──► …
//!                              no capability                no other file, no program, no
//!                              is left                      connection to anywhere
//! ```
//!
//! A capture reads bytes that anyone may send. What a defect in a parser could be abused for is
//! what the process may do; this crate makes that little. Owns the list of system calls and of
//! kinds of access; does not know what runs.

mod calls;
mod files;
mod user;

use std::path::PathBuf;

pub use user::become_user;

/// What a process could not be deprived of.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    /// There is no such user.
    #[error("there is no user {0} (--user)")]
    NoSuchUser(String),
    /// The process may not become that user.
    #[error("cannot become {user} (--user): {source}; start as root")]
    User {
        /// The user.
        user: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system refused a restriction that it knows.
    #[error("cannot confine the run: {0}; `--confine off` runs without")]
    Refused(String),
}

/// What is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confined {
    /// Files are out of reach but those that were named. Older systems cannot do that (Landlock,
    /// since Linux 5.13).
    pub files: bool,
}

/// Leaves to this process, and to threads that it starts from here on, what a capture needs: files
/// in and below the folders `written`, which may be made, written and removed, those in and below
/// the folders `read`, and what it has open. For all its threads: no other program, and unless it
/// `sends` records to one, no connection to anywhere.
/// There is no way back.
///
/// # Errors
/// The system refuses what it could do.
pub fn confine(
    written: &[PathBuf],
    read: &[PathBuf],
    sends: bool,
) -> Result<Confined, ConfineError> {
    let files = files::restrict(written, read)?;
    calls::restrict(sends)?;
    Ok(Confined { files })
}
