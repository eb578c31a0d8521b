//! The records that Flowpin writes: one definition for every output format.
//!
//! ```text
//!  worker ──(RecordKey, record)──► formatter (on the worker) ──► merge by key ──► files
//! ```
//!
//! Owns the record types, their order ([`RecordKey`]) and the schema that every writer reads.
//! Does not write files: that is `flowpin-output`.

mod anomaly;
mod conn;
mod key;
mod tunnel;

pub use anomaly::AnomalyRecord;
pub use conn::{
    ConnRecord, ConnState, Direction, EndReason, FlowState, History, RecordEndpoint, TcpState,
};
pub use key::{RecordKey, RecordSink, Uid};
pub use tunnel::{TunnelKind, TunnelRecord};
