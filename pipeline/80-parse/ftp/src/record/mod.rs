//! The records of a command and its replies.

pub(crate) mod event;
pub(crate) mod log;

/// The replacement for a password, as in Zeek.
pub(crate) const HIDDEN: &[u8] = b"<hidden>";
