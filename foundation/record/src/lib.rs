//! The records that Flowpin writes: one definition for every output format.
//!
//! ```text
//!  worker ──(RecordKey, record)──► formatter (on the worker) ──► merge by key ──► files
//! ```
//!
//! Owns the record types, their order ([`RecordKey`]) and the schema that every writer reads.
//! Does not write files: that is `flowpin-output`.

mod alert;
mod anomaly;
mod app;
mod columns;
mod community_id;
mod conn;
mod conn_columns;
mod data_channel;
mod dns_names;
mod event_names;
mod flood;
mod host_pair;
mod key;
mod lists;
mod locality;
mod message;
mod other_columns;
mod protocol;
mod samples;
mod scan;
mod scan_columns;
mod schema;
mod tool_names;
mod tunnel;
mod uid;
mod weird_names;

pub use alert::{Alert, AlertPacket, FlowSoFar, SetAction, SetUse};
pub use anomaly::{AnomalyRecord, AppEvent};
pub use app::{App, Confidence};
pub use community_id::{CommunityId, NotACommunityId, Ports};
pub use conn::{
    ConnRecord, ConnState, Direction, EndReason, FlowState, History, RecordEndpoint, TcpState,
};
pub use conn_columns::ConnRow;
pub use data_channel::DataChannel;
pub use dns_names::{dns_rcode, dns_rcode_name, dns_type, dns_type_name};
pub use event_names::{
    EventName, Sender, header_event, is_packet_event, message_event, messages_of_event,
    packet_event, packets_of_event, segment_event, segment_of_event,
};
pub use flood::{FloodKind, FloodRecord};
pub use host_pair::{HostPairRecord, PairConnection, Sent};
pub use key::{RecordKey, RecordSink};
pub use lists::ValueLists;
pub use locality::is_local;
pub use message::{
    FilePart, MESSAGE_COLUMNS, MESSAGE_MEMBERS, MessageColumn, MessagePlace, MessageSchema,
    MessageSink, NO_TRANSACTION, Shown, as_mail_file, file_of_part, mail_file, part_number,
};
pub use protocol::{eve_protocol_name, has_ports, zeek_protocol_name};
pub use samples::Samples;
pub use scan::{EpisodeState, ScanKind, ScanMethod, ScanRecord};
pub use schema::{Column, Kind, Logs, RecordType, Row, Value};
pub use tool_names::{ToolNames, lasting};
pub use tunnel::TunnelRecord;
pub use uid::{FileId, NotAUid, Uid};
