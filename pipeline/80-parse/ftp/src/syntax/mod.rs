//! What is written on a control connection: lines, replies, addresses, paths.

pub(crate) mod address;
pub(crate) mod line;
pub(crate) mod path;
pub(crate) mod reply;
