//! The records of DNS: an event per message, as in Suricata, and a line per transaction, as in
//! Zeek.

pub(crate) mod event;
pub(crate) mod log;
mod values;

pub(crate) use event::FROM_SERVER;
pub use event::{DNS, LLMNR, MDNS};
pub use log::DNS_LOG;
