//! The columns that Zeek's `conn.log` does not have.

use super::{ConnRow, Getter};
use crate::App;
use crate::schema::{Column, Kind, Logs, Value};
use flowpin_packet::{InterfaceName, TcpFlags};

pub(super) const COLUMNS: &[Column<ConnRow>] = &[
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
    more(
        "interface",
        Kind::Text,
        "Interface that the first packet came by, if the capture names it: live, and in pcapng; \
         `_` for letters that are no ASCII, quotes and commas.",
        |row| {
            let interface = row.interface.as_deref();
            interface.map_or(Value::Unset, |interface| Value::Text(interface.plain()))
        },
    ),
    more(
        "queue",
        Kind::Count,
        "The receive queue, if one alone was captured (`-i eth1@2`).",
        |row| {
            let queue = row.interface.as_deref().and_then(InterfaceName::queue);
            Value::count(queue.map(u64::from))
        },
    ),
];

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

const fn more(name: &'static str, kind: Kind, doc: &'static str, value: Getter) -> Column<ConnRow> {
    Column {
        name,
        kind,
        logs: Logs::NotZeek,
        doc,
        value,
    }
}
