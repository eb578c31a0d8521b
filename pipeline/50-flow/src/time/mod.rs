//! When connections end: how long each may be silent, and which to look at.

pub(crate) mod timeouts;
pub(crate) mod wheel;
