//! Pairs of hosts: what all connections from one to the other come to.

use crate::other_columns::column;
use crate::schema::{Column, Kind, Row, Value};
use crate::{ConnRecord, Direction, Samples};
use core::net::IpAddr;
use flowpin_packet::Timestamp;

/// What one side of a pair has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Packets.
    pub packets: u64,
    /// Bytes of frames on the wire.
    pub frame_bytes: u64,
    /// Bytes of transport payload, as in the connections' `orig_bytes` and `resp_bytes`.
    pub stream_bytes: u64,
}

/// A connection, as far as the sums of its pair need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairConnection {
    /// Who opened it.
    pub client: IpAddr,
    /// Whom to.
    pub server: IpAddr,
    /// Capture time of the first packet.
    pub first: Timestamp,
    /// Capture time of the last packet.
    pub last: Timestamp,
    /// What the client has sent.
    pub to_server: Sent,
    /// What the server has sent.
    pub to_client: Sent,
    /// The protocol that was identified first, by our name.
    pub service: Option<&'static str>,
}

impl PairConnection {
    /// That of a record.
    pub fn of(conn: &ConnRecord) -> Self {
        let sent = |of: &Direction| Sent {
            packets: of.packets,
            frame_bytes: of.frame_bytes,
            stream_bytes: of.stream_bytes,
        };
        Self {
            client: conn.client.address,
            server: conn.server.address,
            first: conn.start,
            last: conn.end,
            to_server: sent(&conn.to_server),
            to_client: sent(&conn.to_client),
            service: conn.app.map(|app| app.name),
        }
    }
}

/// The connections that one host has opened to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPairRecord {
    /// Who opened them.
    pub client: IpAddr,
    /// Whom to.
    pub server: IpAddr,
    /// Capture time of the first packet.
    pub first: Timestamp,
    /// Capture time of the last packet.
    pub last: Timestamp,
    /// How many there are.
    pub connections: u64,
    /// What the clients' side has sent.
    pub to_server: Sent,
    /// What the servers' side has sent.
    pub to_client: Sent,
    /// The protocols that were identified first, by our names.
    pub services: Samples<&'static str, 16>,
}

impl HostPairRecord {
    /// A pair by its first connection.
    pub fn of(one: &PairConnection) -> Self {
        Self {
            client: one.client,
            server: one.server,
            first: one.first,
            last: one.last,
            connections: 1,
            to_server: one.to_server,
            to_client: one.to_client,
            services: Samples::first("", one.service),
        }
    }

    /// Adds a connection of the same pair.
    pub fn add(&mut self, one: &PairConnection) {
        self.first = self.first.min(one.first);
        self.last = self.last.max(one.last);
        self.connections = self.connections.saturating_add(1);
        self.to_server.add(&one.to_server);
        self.to_client.add(&one.to_client);
        let known = self.services.as_slice();
        if let Some(service) = one.service
            && !known.contains(&service)
        {
            self.services = Samples::first("", known.iter().copied().chain([service]));
        }
    }
}

impl Sent {
    fn add(&mut self, other: &Self) {
        self.packets = self.packets.saturating_add(other.packets);
        self.frame_bytes = self.frame_bytes.saturating_add(other.frame_bytes);
        self.stream_bytes = self.stream_bytes.saturating_add(other.stream_bytes);
    }
}

impl Row for HostPairRecord {
    const COLUMNS: &'static [Column<Self>] = COLUMNS;
}

const COLUMNS: &[Column<HostPairRecord>] = &[
    column(
        "ts",
        Kind::Time,
        "Capture time of the first packet.",
        |row| Value::Time(row.first),
    ),
    column(
        "id.orig_h",
        Kind::Address,
        "Who opened the connections.",
        |row| Value::Address(row.client),
    ),
    column("id.resp_h", Kind::Address, "Whom to.", |row| {
        Value::Address(row.server)
    }),
    column(
        "connections",
        Kind::Count,
        "How many connections there are.",
        |row| Value::Count(row.connections),
    ),
    column(
        "services",
        Kind::TextSet,
        "The application protocols, by Flowpin's names (`service_name` in `conn`), as each \
         connection's own bytes told: the 16 that were identified first.",
        |row| Value::names(row.services.as_slice()),
    ),
    column(
        "orig_bytes",
        Kind::Count,
        "Payload bytes of the originators, as in `conn`.",
        |row| Value::Count(row.to_server.stream_bytes),
    ),
    column(
        "resp_bytes",
        Kind::Count,
        "Payload bytes of the responders.",
        |row| Value::Count(row.to_client.stream_bytes),
    ),
    column(
        "orig_pkts",
        Kind::Count,
        "Packets of the originators.",
        |row| Value::Count(row.to_server.packets),
    ),
    column(
        "resp_pkts",
        Kind::Count,
        "Packets of the responders.",
        |row| Value::Count(row.to_client.packets),
    ),
    column(
        "orig_frame_bytes",
        Kind::Count,
        "Bytes of the originators' frames on the wire.",
        |row| Value::Count(row.to_server.frame_bytes),
    ),
    column(
        "resp_frame_bytes",
        Kind::Count,
        "Bytes of the responders' frames on the wire.",
        |row| Value::Count(row.to_client.frame_bytes),
    ),
    column(
        "end_ts",
        Kind::Time,
        "Capture time of the last packet.",
        |row| Value::Time(row.last),
    ),
];
