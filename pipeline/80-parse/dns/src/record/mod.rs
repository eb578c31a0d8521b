//! The records of DNS: an event per message, as in Suricata, and a line per transaction, as in
//! Zeek.

pub(crate) mod event;
pub(crate) mod event_columns;
pub(crate) mod log;
mod values;

pub(crate) use event_columns::FROM_SERVER;
pub use event_columns::{DNS, LLMNR, MDNS};
pub use log::DNS_LOG;
