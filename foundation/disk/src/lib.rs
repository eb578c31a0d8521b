//! How files are made, so that none is destroyed by accident: the one place where anything is
//! opened for writing.
//!
//! ```text
//!  what is read ──► Reads ─┐
//!                          ├─► check   before anything is opened, while a mistake costs nothing
//!  --force ──► Existing ───┤
//!                          ├─► create, remake, Output   always a new file, never one that is there
//!  names ──────────────────┘
//!                            ─► reopen, read   only the file that is meant, and only a regular one
//!  what a user names ───────► read_given        bounded, and nothing that keeps a reader waiting
//! ```
//!
//! Guarantees: no file that is read is ever written, whatever it is called (device and inode
//! decide); no link is followed by an output's last name; nothing waits for the other end of a
//! pipe; a file that was there keeps its bytes, also under its other names, because a new one takes
//! its place. Does not know what an earlier run wrote: its callers know their names.

mod beside;
mod create;
mod earlier;
mod folder;
mod given;
mod identity;
mod output;
mod reads;
mod refused;
mod regular;
mod socket;
mod unfinished;

pub use create::{Existing, check, create, is_gone, remake};
pub use earlier::{earlier, named, remove};
pub use folder::check_folder;
pub use given::{GIVEN_LEN_MAX, NotGiven, read_given, read_given_text, read_given_up_to};
pub use identity::Identity;
pub use output::{Output, stdout};
pub use reads::Reads;
pub use refused::{Refused, Removed};
pub use regular::{open_to_read, read, read_head, reopen};
pub use socket::connect;
pub use unfinished::abandon;
