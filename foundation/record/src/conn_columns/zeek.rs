//! The columns that Zeek's `conn.log` has.

use super::{ConnRow, Getter};
use crate::schema::{Column, Kind, Logs, Value};
use crate::{Direction, is_local, zeek_protocol_name};

pub(super) const COLUMNS: &[Column<ConnRow>] = &[
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
    known(zeek(
        "id.orig_p",
        Kind::Port,
        "Port of the client; ICMP: the type; of a transport that Zeek does not know: 0.",
        |row| {
            Value::Port(if row.is_known() {
                row.record.client.port
            } else {
                0
            })
        },
    )),
    ours(zeek(
        "id.orig_p",
        Kind::Port,
        "Port of the client; ICMP: the type.",
        |row| Value::Port(row.record.client.port),
    )),
    zeek(
        "id.resp_h",
        Kind::Address,
        "Address of the server.",
        |row| Value::Address(row.record.server.address),
    ),
    known(zeek(
        "id.resp_p",
        Kind::Port,
        "Port of the server; ICMP: the code, or the counterpart's type; of a transport that Zeek \
         does not know: 0.",
        |row| {
            Value::Port(if row.is_known() {
                row.record.server.port
            } else {
                0
            })
        },
    )),
    ours(zeek(
        "id.resp_p",
        Kind::Port,
        "Port of the server; ICMP: the code, or the counterpart's type.",
        |row| Value::Port(row.record.server.port),
    )),
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
    known(zeek(
        "orig_bytes",
        Kind::Count,
        "Payload from the client, as below; of a transport that Zeek does not know: 0.",
        |row| if_lasting(row, Value::Count(known_bytes(row, &row.record.to_server))),
    )),
    ours(zeek(
        "orig_bytes",
        Kind::Count,
        "Payload from the client; TCP: by sequence numbers, so without repetitions. Unset, as \
         in Zeek, where all packets have one time (a single packet, say): \
         `orig_payload_bytes` is never unset, so sum that.",
        |row| if_lasting(row, Value::Count(row.record.to_server.stream_bytes)),
    )),
    known(zeek(
        "resp_bytes",
        Kind::Count,
        "Payload from the server, as below; of a transport that Zeek does not know: 0.",
        |row| if_lasting(row, Value::Count(known_bytes(row, &row.record.to_client))),
    )),
    ours(zeek(
        "resp_bytes",
        Kind::Count,
        "Payload from the server, likewise; `resp_payload_bytes` is never unset.",
        |row| if_lasting(row, Value::Count(row.record.to_client.stream_bytes)),
    )),
    known(zeek(
        "conn_state",
        Kind::Text,
        "How it went (`SF`, `S0`, …); of a transport that Zeek does not know: `OTH`.",
        |row| {
            Value::Text(if row.is_known() {
                row.record.conn_state.name()
            } else {
                "OTH"
            })
        },
    )),
    ours(zeek(
        "conn_state",
        Kind::Text,
        "How it went, in Zeek's words (`SF`, `S0`, …).",
        |row| Value::Text(row.record.conn_state.name()),
    )),
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
    known(zeek(
        "history",
        Kind::Text,
        "Events in order, Zeek's letters; client upper case; of a transport that Zeek does not \
         know: unset.",
        |row| {
            Value::text(if row.is_known() {
                row.record.history.as_str()
            } else {
                ""
            })
        },
    )),
    ours(zeek(
        "history",
        Kind::Text,
        "Events in order, Zeek's letters; client upper case.",
        |row| Value::text(row.record.history.as_str()),
    )),
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
];

/// What Zeek's log says in its own way, and the other formats in full below.
const fn known(mut column: Column<ConnRow>) -> Column<ConnRow> {
    column.logs = Logs::OnlyZeek;
    column
}

const fn ours(mut column: Column<ConnRow>) -> Column<ConnRow> {
    column.logs = Logs::NotZeek;
    column
}

/// Zeek counts no payload of transports that it does not know.
fn known_bytes(row: &ConnRow, direction: &Direction) -> u64 {
    if row.is_known() {
        direction.stream_bytes
    } else {
        0
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

const fn zeek(name: &'static str, kind: Kind, doc: &'static str, value: Getter) -> Column<ConnRow> {
    Column {
        name,
        kind,
        logs: Logs::All,
        doc,
        value,
    }
}
