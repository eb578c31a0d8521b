//! Another user, who may do less.

use crate::ConfineError;
use nix::unistd::{User, initgroups, setgid, setuid};
use std::ffi::CString;
use std::io;

/// Becomes another user with all their groups, for good: no capability is left.
///
/// # Errors
/// There is no such user, or this process may not become that one.
pub fn become_user(name: &str) -> Result<(), ConfineError> {
    let failed = |source: nix::Error| ConfineError::User {
        user: name.to_owned(),
        source: io::Error::from(source),
    };
    let user = User::from_name(name).map_err(failed)?;
    let user = user.ok_or_else(|| ConfineError::NoSuchUser(name.to_owned()))?;
    let login = CString::new(user.name.as_bytes());
    let login = login.map_err(|_| ConfineError::NoSuchUser(name.to_owned()))?;
    // In this order: without root's rights the groups could not be given up any more.
    initgroups(&login, user.gid).map_err(failed)?;
    setgid(user.gid).map_err(failed)?;
    setuid(user.uid).map_err(failed)
}
