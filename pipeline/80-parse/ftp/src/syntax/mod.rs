//! The syntax of control connections: lines, replies, addresses, paths.

pub(crate) mod address;
pub(crate) mod line;
pub(crate) mod path;
pub(crate) mod reply;
