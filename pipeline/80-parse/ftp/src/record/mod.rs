//! What is told of a command and its replies.

pub(crate) mod event;
pub(crate) mod log;

/// What stands where a password was, as Zeek has it.
pub(crate) const HIDDEN: &[u8] = b"<hidden>";
