//! When connections end: how long each may be silent, and which ones to check.

pub(crate) mod timeouts;
pub(crate) mod wheel;
