//! The columns of anomaly and tunnel records.

use crate::schema::{Column, Kind, Logs, Row, Value};
use crate::{AnomalyRecord, TunnelRecord, Uid, weird_names};

impl Row for AnomalyRecord {
    const COLUMNS: &'static [Column<Self>] = ANOMALY;
}

impl Row for TunnelRecord {
    const COLUMNS: &'static [Column<Self>] = TUNNEL;
}

pub(crate) const fn column<R>(
    name: &'static str,
    kind: Kind,
    doc: &'static str,
    value: for<'a> fn(&'a R) -> Value<'a>,
) -> Column<R> {
    Column {
        name,
        kind,
        logs: Logs::All,
        doc,
        value,
    }
}

const fn only_in<R>(logs: Logs, mut column: Column<R>) -> Column<R> {
    column.logs = logs;
    column
}

/// Zeek tells ports wherever it tells addresses.
fn zeeks_port<'a>(row: &AnomalyRecord, port: fn((Uid, u16, u16)) -> u16) -> Value<'a> {
    match (row.connection, row.addresses) {
        (Some(connection), _) => Value::Port(port(connection)),
        (None, Some(_)) => Value::Port(0),
        (None, None) => Value::Unset,
    }
}

const ANOMALY: &[Column<AnomalyRecord>] = &[
    column("ts", Kind::Time, "When the packet was captured.", |row| {
        Value::Time(row.time)
    }),
    column(
        "uid",
        Kind::Text,
        "The connection; unset for refused packets, which belong to none.",
        |row| {
            row.connection
                .map_or(Value::Unset, |(uid, ..)| Value::Uid(uid))
        },
    ),
    column(
        "id.orig_h",
        Kind::Address,
        "Source, if an IP header could be read.",
        |row| {
            row.addresses
                .map_or(Value::Unset, |(source, _)| Value::Address(source))
        },
    ),
    only_in(
        Logs::OnlyZeek,
        column(
            "id.orig_p",
            Kind::Port,
            "Source port; 0 if it belongs to no connection.",
            |row| zeeks_port(row, |(_, source, _)| source),
        ),
    ),
    only_in(
        Logs::NotZeek,
        column(
            "id.orig_p",
            Kind::Port,
            "Source port, if it belongs to a connection.",
            |row| {
                row.connection
                    .map_or(Value::Unset, |(_, source, _)| Value::Port(source))
            },
        ),
    ),
    column(
        "id.resp_h",
        Kind::Address,
        "Destination, likewise.",
        |row| {
            row.addresses
                .map_or(Value::Unset, |(_, to)| Value::Address(to))
        },
    ),
    only_in(
        Logs::OnlyZeek,
        column(
            "id.resp_p",
            Kind::Port,
            "Destination port, likewise.",
            |row| zeeks_port(row, |(.., to)| to),
        ),
    ),
    only_in(
        Logs::NotZeek,
        column(
            "id.resp_p",
            Kind::Port,
            "Destination port, likewise.",
            |row| {
                row.connection
                    .map_or(Value::Unset, |(.., to)| Value::Port(to))
            },
        ),
    ),
    only_in(
        Logs::OnlyZeek,
        column(
            "name",
            Kind::Text,
            "What was wrong, by Zeek's name where Zeek knows the same thing.",
            |row| Value::Text(weird_names::of(row).name),
        ),
    ),
    only_in(
        Logs::OnlyZeek,
        column("addl", Kind::Text, "What Zeek says in addition.", |row| {
            Value::text(weird_names::of(row).addl)
        }),
    ),
    only_in(
        Logs::OnlyZeek,
        column(
            "notice",
            Kind::Bool,
            "Whether it was turned into a notice: never.",
            |_| Value::Bool(false),
        ),
    ),
    only_in(
        Logs::OnlyZeek,
        column("peer", Kind::Text, "Who wrote it.", |_| {
            Value::Text("flowpin")
        }),
    ),
    only_in(
        Logs::OnlyZeek,
        column(
            "source",
            Kind::Text,
            "The analyzer that tells of it in Zeek.",
            |row| Value::text(weird_names::source(row)),
        ),
    ),
    only_in(
        Logs::NotZeek,
        column("name", Kind::Text, "What was wrong.", |row| {
            let event = row.app.map(|app| app.name);
            Value::Text(event.unwrap_or(row.what.reason.name()))
        }),
    ),
    column(
        "layer",
        Kind::Enum,
        "The layer that refused the packet; the protocol of a message.",
        |row| {
            let protocol = row.app.map(|app| app.protocol);
            Value::Text(protocol.unwrap_or(row.what.layer.name()))
        },
    ),
    column(
        "offset",
        Kind::Count,
        "Where, in bytes from the start of that layer.",
        |row| Value::Count(u64::from(row.what.offset)),
    ),
    column(
        "packet_number",
        Kind::Count,
        "Position of the packet in the input, counted before the filter; none if a connection's \
         end showed it.",
        |row| row.packet_number.map_or(Value::Unset, Value::Count),
    ),
    column(
        "suppressed",
        Kind::Count,
        "How many more of this layer and reason were not written since the last one that was.",
        |row| Value::Count(row.suppressed),
    ),
];

const TUNNEL: &[Column<TunnelRecord>] = &[
    column(
        "ts",
        Kind::Time,
        "Capture time of its first packet.",
        |row| Value::Time(row.first),
    ),
    column(
        "uid",
        Kind::Text,
        "Identifier, as in `tunnel_parents`.",
        |row| Value::Uid(row.uid),
    ),
    column(
        "id.orig_h",
        Kind::Address,
        "The lower outer address.",
        |row| Value::Address(row.addresses.0),
    ),
    column("id.orig_p", Kind::Port, "0: a tunnel's ports vary.", |_| {
        Value::Port(0)
    }),
    column(
        "id.resp_h",
        Kind::Address,
        "The higher outer address.",
        |row| Value::Address(row.addresses.1),
    ),
    column("id.resp_p", Kind::Port, "0.", |_| Value::Port(0)),
    column(
        "tunnel_type",
        Kind::Enum,
        "Its kind, in Zeek's words.",
        |row| Value::Text(row.kind.zeek_name()),
    ),
    column(
        "action",
        Kind::Enum,
        "`Tunnel::CLOSE`: these are its sums.",
        |_| Value::Text("Tunnel::CLOSE"),
    ),
    column(
        "tunnel_id",
        Kind::Count,
        "VNI, TEID, key, session or service path.",
        |row| Value::Count(u64::from(row.id)),
    ),
    column(
        "tunnel_parents",
        Kind::UidSet,
        "The tunnel around this one.",
        |row| {
            if row.parent.0 == 0 {
                Value::Unset
            } else {
                Value::Uid(row.parent)
            }
        },
    ),
    column(
        "end_ts",
        Kind::Time,
        "Capture time of its last packet.",
        |row| Value::Time(row.last),
    ),
    column(
        "orig_pkts",
        Kind::Count,
        "Packets inside from the lower address.",
        |row| Value::Count(row.packets[0]),
    ),
    column(
        "orig_ip_bytes",
        Kind::Count,
        "Bytes of these inner packets.",
        |row| Value::Count(row.bytes[0]),
    ),
    column(
        "resp_pkts",
        Kind::Count,
        "Packets inside from the higher address.",
        |row| Value::Count(row.packets[1]),
    ),
    column(
        "resp_ip_bytes",
        Kind::Count,
        "Bytes of these inner packets.",
        |row| Value::Count(row.bytes[1]),
    ),
];
