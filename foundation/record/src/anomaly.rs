//! Oddities: packets refused, fragments that do not fit.

use crate::{ToolNames, Uid};
use core::net::IpAddr;
use flowpin_packet::{InterfaceId, Malformed, Timestamp};

/// A packet that was refused or that is odd, rate-limited per reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnomalyRecord {
    /// When the packet was captured.
    pub time: Timestamp,
    /// Its position in the input, from 1; none if a connection's end showed it and no packet.
    pub packet_number: Option<u64>,
    /// The interface that the packet came by, or the first one of the connection.
    pub interface: InterfaceId,
    /// What was wrong and where; of a message see `app`.
    pub what: Malformed,
    /// What was wrong with a message of an application protocol.
    pub app: Option<AppEvent>,
    /// Source and destination, where an IP header could be read.
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// The connection, where there is one, and the packet's source and destination ports.
    pub connection: Option<(Uid, u16, u16)>,
    /// How many more of this layer and reason were not written since the last one that was.
    pub suppressed: u64,
}

/// What was wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppEvent {
    /// The protocol.
    pub protocol: &'static str,
    /// What Suricata calls it.
    pub in_tools: &'static ToolNames,
    /// The event: lower case, words joined by `_`.
    pub name: &'static str,
    /// Where what shows it was sent; none if the connection's end shows it.
    pub to_server: Option<bool>,
}
