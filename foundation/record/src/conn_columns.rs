//! The columns of connection records.

use crate::schema::{Column, Kind, Row, Value};
use crate::{App, CommunityId, ConnRecord, is_local, zeek_protocol_name};
use flowpin_packet::TcpFlags;

/// A connection record with what is computed from it once, when it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnRow {
    /// The record.
    pub record: ConnRecord,
    /// Its Community ID, if wanted.
    pub community_id: Option<CommunityId>,
    /// Zeek's names of what it spoke at first, if that changed, and at last.
    services: [&'static str; 2],
}

impl ConnRow {
    /// The row of a record.
    pub fn new(record: &ConnRecord, community_id: Option<CommunityId>) -> Self {
        let services = record.app.as_ref().map_or([""; 2], |app| {
            let over = record.protocol;
            [app.original_in_tools.zeek(over), app.in_tools.zeek(over)]
        });
        Self {
            record: *record,
            community_id,
            services,
        }
    }
}

impl Row for ConnRow {
    const COLUMNS: &'static [Column<Self>] = COLUMNS;
}

type Getter = for<'a> fn(&'a ConnRow) -> Value<'a>;

const fn zeek(name: &'static str, kind: Kind, doc: &'static str, value: Getter) -> Column<ConnRow> {
    let zeek = true;
    Column {
        name,
        kind,
        zeek,
        doc,
        value,
    }
}

const fn more(name: &'static str, kind: Kind, doc: &'static str, value: Getter) -> Column<ConnRow> {
    Column {
        zeek: false,
        ..zeek(name, kind, doc, value)
    }
}

/// Zeek leaves duration and sizes unset for a connection without an extent in time.
fn if_lasting(row: &ConnRow, value: Value<'static>) -> Value<'static> {
    if row.record.open_until > row.record.start {
        value
    } else {
        Value::Unset
    }
}

fn flags(flags: TcpFlags, row: &ConnRow) -> Value<'static> {
    if row.record.protocol == 6 {
        Value::Count(u64::from(flags.0))
    } else {
        Value::Unset
    }
}

fn vlan(row: &ConnRow, index: usize) -> Value<'static> {
    match row.record.vlans.get(index) {
        Some(&id) if id != u16::MAX => Value::Count(u64::from(id)),
        _ => Value::Unset,
    }
}

fn app(row: &ConnRow, part: fn(&App) -> Option<&'static str>) -> Value<'static> {
    let text = row.record.app.as_ref().and_then(part);
    text.map_or(Value::Unset, Value::Text)
}

const COLUMNS: &[Column<ConnRow>] = &[
    zeek(
        "ts",
        Kind::Time,
        "When the first packet was captured.",
        |row| Value::Time(row.record.start),
    ),
    zeek(
        "uid",
        Kind::Text,
        "Identifier, the same for any number of workers.",
        |row| Value::Uid(row.record.uid),
    ),
    zeek(
        "id.orig_h",
        Kind::Address,
        "Address of the client (who opened).",
        |row| Value::Address(row.record.client.address),
    ),
    zeek(
        "id.orig_p",
        Kind::Port,
        "Port of the client; ICMP: the type.",
        |row| Value::Port(row.record.client.port),
    ),
    zeek(
        "id.resp_h",
        Kind::Address,
        "Address of the server.",
        |row| Value::Address(row.record.server.address),
    ),
    zeek(
        "id.resp_p",
        Kind::Port,
        "Port of the server; ICMP: the code, or the counterpart's type.",
        |row| Value::Port(row.record.server.port),
    ),
    zeek(
        "proto",
        Kind::Enum,
        "`tcp`, `udp`, `icmp` or `unknown_transport`.",
        |row| Value::Text(zeek_protocol_name(row.record.protocol)),
    ),
    zeek(
        "service",
        Kind::Text,
        "Application protocol, by the connection's bytes, in Zeek's words; where it changed \
         (STARTTLS), both, joined by a comma.",
        |row| match row.services {
            [original, last] if original.is_empty() || original == last => Value::text(last),
            _ => Value::Words(&row.services),
        },
    ),
    zeek(
        "duration",
        Kind::Interval,
        "From the first packet to the last; TCP: to the one with which both sides had closed. \
         Unset, as both sizes, if it is 0.",
        |row| {
            if_lasting(
                row,
                Value::Interval(row.record.open_until.nanos_since(row.record.start)),
            )
        },
    ),
    zeek(
        "orig_bytes",
        Kind::Count,
        "Payload from the client; TCP: by sequence numbers, so without repetitions. Unset, as \
         in Zeek, where all packets have one time (a single packet, say): \
         `orig_payload_bytes` is never unset, so sum that.",
        |row| if_lasting(row, Value::Count(row.record.to_server.stream_bytes)),
    ),
    zeek(
        "resp_bytes",
        Kind::Count,
        "Payload from the server, likewise; `resp_payload_bytes` is never unset.",
        |row| if_lasting(row, Value::Count(row.record.to_client.stream_bytes)),
    ),
    zeek(
        "conn_state",
        Kind::Text,
        "How it went, in Zeek's words (`SF`, `S0`, …).",
        |row| Value::Text(row.record.conn_state.name()),
    ),
    zeek(
        "local_orig",
        Kind::Bool,
        "Whether the client's address is not routed publicly.",
        |row| Value::Bool(is_local(row.record.client.address)),
    ),
    zeek(
        "local_resp",
        Kind::Bool,
        "Whether the server's address is not routed publicly.",
        |row| Value::Bool(is_local(row.record.server.address)),
    ),
    zeek(
        "missed_bytes",
        Kind::Count,
        "TCP: bytes acknowledged but never captured, both directions.",
        |row| {
            let (there, back) = (&row.record.to_server, &row.record.to_client);
            Value::Count(there.missed_bytes.saturating_add(back.missed_bytes))
        },
    ),
    zeek(
        "history",
        Kind::Text,
        "Events in order, Zeek's letters; client upper case.",
        |row| Value::text(row.record.history.as_str()),
    ),
    zeek(
        "orig_pkts",
        Kind::Count,
        "Packets from the client.",
        |row| Value::Count(row.record.to_server.packets),
    ),
    zeek(
        "orig_ip_bytes",
        Kind::Count,
        "Their bytes with IP headers.",
        |row| Value::Count(row.record.to_server.ip_bytes),
    ),
    zeek(
        "resp_pkts",
        Kind::Count,
        "Packets from the server.",
        |row| Value::Count(row.record.to_client.packets),
    ),
    zeek(
        "resp_ip_bytes",
        Kind::Count,
        "Their bytes with IP headers.",
        |row| Value::Count(row.record.to_client.ip_bytes),
    ),
    zeek(
        "tunnel_parents",
        Kind::UidSet,
        "Identifier of the innermost tunnel.",
        |row| {
            row.record
                .tunnel
                .map_or(Value::Unset, |(_, uid)| Value::Uid(uid))
        },
    ),
    zeek("ip_proto", Kind::Count, "IP protocol number.", |row| {
        Value::Count(u64::from(row.record.protocol))
    }),
    zeek(
        "community_id",
        Kind::Text,
        "Community ID, version 1.",
        |row| row.community_id.map_or(Value::Unset, Value::CommunityId),
    ),
    more(
        "flow_id",
        Kind::Count,
        "EVE's identifier: the upper 53 bits of `uid`.",
        |row| Value::Count(row.record.uid.flow_id()),
    ),
    more(
        "end_ts",
        Kind::Time,
        "Latest capture time of any packet.",
        |row| Value::Time(row.record.end),
    ),
    more(
        "first_packet",
        Kind::Count,
        "Position of the first packet in the input, counted before the filter.",
        |row| Value::Count(row.record.first_packet),
    ),
    more(
        "flow_state",
        Kind::Enum,
        "Suricata's state: `new`, `established`, `closed`.",
        |row| Value::Text(row.record.flow_state.name()),
    ),
    more("tcp_state", Kind::Enum, "Suricata's TCP state.", |row| {
        Value::Text(row.record.tcp_state.name())
    }),
    more(
        "reason",
        Kind::Enum,
        "Why it was written: `timeout`, `closed`, `reused`, `evicted`, `end_of_input`, `interim`.",
        |row| Value::Text(row.record.reason.name()),
    ),
    more(
        "interim",
        Kind::Count,
        "Which interim record this is, from 1; 0: the last.",
        |row| Value::Count(u64::from(row.record.interim)),
    ),
    more(
        "orig_frame_bytes",
        Kind::Count,
        "Bytes of frames from the client.",
        |row| Value::Count(row.record.to_server.frame_bytes),
    ),
    more(
        "resp_frame_bytes",
        Kind::Count,
        "Bytes of frames from the server.",
        |row| Value::Count(row.record.to_client.frame_bytes),
    ),
    more(
        "orig_payload_bytes",
        Kind::Count,
        "Transport payload from the client, repetitions included.",
        |row| Value::Count(row.record.to_server.payload_bytes),
    ),
    more(
        "resp_payload_bytes",
        Kind::Count,
        "Likewise from the server.",
        |row| Value::Count(row.record.to_client.payload_bytes),
    ),
    more(
        "orig_missed_bytes",
        Kind::Count,
        "TCP: missed bytes of the client.",
        |row| Value::Count(row.record.to_server.missed_bytes),
    ),
    more(
        "resp_missed_bytes",
        Kind::Count,
        "TCP: missed bytes of the server.",
        |row| Value::Count(row.record.to_client.missed_bytes),
    ),
    more(
        "orig_tcp_flags",
        Kind::Count,
        "TCP: control bits of the client, or-ed.",
        |row| flags(row.record.to_server.tcp_flags, row),
    ),
    more(
        "resp_tcp_flags",
        Kind::Count,
        "TCP: control bits of the server, or-ed.",
        |row| flags(row.record.to_client.tcp_flags, row),
    ),
    more(
        "orig_duplicates",
        Kind::Count,
        "Frames of the client captured twice.",
        |row| Value::Count(u64::from(row.record.to_server.duplicates)),
    ),
    more(
        "resp_duplicates",
        Kind::Count,
        "Frames of the server captured twice.",
        |row| Value::Count(u64::from(row.record.to_client.duplicates)),
    ),
    more(
        "orig_snapped",
        Kind::Count,
        "Packets of the client cut short in the capture.",
        |row| Value::Count(u64::from(row.record.to_server.snapped)),
    ),
    more(
        "resp_snapped",
        Kind::Count,
        "Packets of the server cut short in the capture.",
        |row| Value::Count(u64::from(row.record.to_client.snapped)),
    ),
    more(
        "orig_bad_checksums",
        Kind::Count,
        "Packets of the client with a bad checksum.",
        |row| Value::Count(u64::from(row.record.to_server.bad_checksums)),
    ),
    more(
        "resp_bad_checksums",
        Kind::Count,
        "Packets of the server with a bad checksum.",
        |row| Value::Count(u64::from(row.record.to_client.bad_checksums)),
    ),
    more(
        "orig_icmp_errors",
        Kind::Count,
        "ICMP errors that quote the client.",
        |row| Value::Count(u64::from(row.record.to_server.icmp_errors)),
    ),
    more(
        "resp_icmp_errors",
        Kind::Count,
        "ICMP errors that quote the server.",
        |row| Value::Count(u64::from(row.record.to_client.icmp_errors)),
    ),
    more(
        "rtt",
        Kind::Interval,
        "TCP: round-trip time of the handshake.",
        |row| row.record.rtt_ns.map_or(Value::Unset, Value::Interval),
    ),
    more(
        "vlan",
        Kind::Count,
        "Outer VLAN of the first packet.",
        |row| vlan(row, 0),
    ),
    more(
        "inner_vlan",
        Kind::Count,
        "Inner VLAN of the first packet.",
        |row| vlan(row, 1),
    ),
    more(
        "tunnel",
        Kind::Enum,
        "Kind of the innermost tunnel.",
        |row| {
            row.record
                .tunnel
                .map_or(Value::Unset, |(kind, _)| Value::Text(kind.name()))
        },
    ),
    more(
        "icmp_type",
        Kind::Count,
        "ICMP: type of the first packet.",
        |row| Value::count(row.record.icmp.map(|(kind, _)| u64::from(kind))),
    ),
    more(
        "icmp_code",
        Kind::Count,
        "ICMP: code of the first packet.",
        |row| Value::count(row.record.icmp.map(|(_, code)| u64::from(code))),
    ),
    more(
        "flipped",
        Kind::Bool,
        "Turned because only the source port is well known.",
        |row| Value::Bool(row.record.flipped),
    ),
    more(
        "midstream",
        Kind::Bool,
        "TCP: no beginning was seen.",
        |row| Value::Bool(row.record.midstream),
    ),
    more(
        "service_name",
        Kind::Text,
        "Application protocol by our own name; where it changed, the last.",
        |row| app(row, |app| Some(app.name)),
    ),
    more(
        "service_original",
        Kind::Text,
        "By our own name, what it was before it changed: `smtp` before STARTTLS.",
        |row| app(row, |app| app.original),
    ),
    more(
        "service_rule",
        Kind::Text,
        "The rule that told `service`.",
        |row| app(row, |app| Some(app.rule)),
    ),
    more(
        "service_confidence",
        Kind::Enum,
        "`sure`: one whole structure; `likely`: weak signs that repeated.",
        |row| app(row, |app| Some(app.confidence.name())),
    ),
    more(
        "service_by",
        Kind::Enum,
        "Whose bytes told it: `client` or `server`.",
        |row| {
            app(row, |app| {
                Some(if app.by_client { "client" } else { "server" })
            })
        },
    ),
];
