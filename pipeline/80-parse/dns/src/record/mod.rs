//! The records of DNS: an event for every message, as Suricata has them; a line for every
//! transaction, as Zeek has them.

pub(crate) mod event;
pub(crate) mod event_columns;
pub(crate) mod log;
mod values;

pub(crate) use event_columns::FROM_SERVER;
pub use event_columns::{DNS, LLMNR, MDNS};
pub use log::DNS_LOG;
