//! The columns of scan and flood records. `src` and `dst` are as in Zeek's `notice.log`.

use crate::other_columns::column;
use crate::schema::{Column, Kind, Row, Value};
use crate::{FloodRecord, ScanRecord};

impl Row for ScanRecord {
    const COLUMNS: &'static [Column<Self>] = SCAN;
}

impl Row for FloodRecord {
    const COLUMNS: &'static [Column<Self>] = FLOOD;
}

const SCAN: &[Column<ScanRecord>] = &[
    column(
        "ts",
        Kind::Time,
        "Capture time of its first attempt.",
        |row| Value::Time(row.first),
    ),
    column(
        "uid",
        Kind::Text,
        "Identifier, the same in all records of this scan.",
        |row| Value::Uid(row.uid),
    ),
    column(
        "state",
        Kind::Enum,
        "`begun`: the alarm; `ongoing`: once for each window; `over`.",
        |row| Value::Text(row.state.name()),
    ),
    column(
        "src",
        Kind::Address,
        "Who scans; of several, the first.",
        |row| Value::Address(row.source),
    ),
    column(
        "kind",
        Kind::Enum,
        "`vertical`: ports of a host; `horizontal`: hosts by one port (four of five targets), or \
         most of them by one of a few each; `block`: several hosts by several ports each, from two \
         on; `sparse`: both, few of each; `distributed`: a host by many sources.",
        |row| Value::Text(row.kind.name()),
    ),
    column(
        "method",
        Kind::Enum,
        "With what it asks, in nmap's words.",
        |row| Value::Text(row.method.name()),
    ),
    column("hosts", Kind::Count, "Different hosts asked.", |row| {
        Value::Count(row.hosts)
    }),
    column(
        "ports",
        Kind::Count,
        "Different ports asked; of an IP-protocol scan: protocols.",
        |row| Value::Count(row.ports),
    ),
    column(
        "targets",
        Kind::Count,
        "Different pairs of host and port asked.",
        |row| Value::Count(row.targets),
    ),
    column("open", Kind::Count, "Targets that accepted.", |row| {
        Value::Count(row.open)
    }),
    column("closed", Kind::Count, "Targets that refused.", |row| {
        Value::Count(row.closed)
    }),
    column(
        "filtered",
        Kind::Count,
        "Targets that did not answer, or for which a third party refused.",
        |row| Value::Count(row.filtered),
    ),
    column(
        "attempts",
        Kind::Count,
        "New connections tried, repetitions included.",
        |row| Value::Count(row.attempts),
    ),
    column(
        "estimated",
        Kind::Bool,
        "Whether the counts are estimates (standard error 2 %) or exact.",
        |row| Value::Bool(row.estimated),
    ),
    column(
        "sources",
        Kind::Count,
        "How many ask for the same at the same time; above 1 all but one are decoys, but of a \
         distributed scan.",
        |row| Value::Count(row.source_count),
    ),
    column(
        "source_samples",
        Kind::AddressSet,
        "Some of these, the first first.",
        |row| Value::addresses(row.sources.as_slice()),
    ),
    column(
        "host_samples",
        Kind::AddressSet,
        "The hosts asked first.",
        |row| Value::addresses(row.host_samples.as_slice()),
    ),
    column(
        "port_samples",
        Kind::PortSet,
        "The ports asked first.",
        |row| Value::ports(row.port_samples.as_slice()),
    ),
    column(
        "end_ts",
        Kind::Time,
        "Capture time of its last attempt.",
        |row| Value::Time(row.last),
    ),
    column(
        "first_packet",
        Kind::Count,
        "Number of the packet of its first attempt.",
        |row| Value::Count(row.first_packet),
    ),
];

const FLOOD: &[Column<FloodRecord>] = &[
    column(
        "ts",
        Kind::Time,
        "Capture time of its first packet.",
        |row| Value::Time(row.first),
    ),
    column(
        "uid",
        Kind::Text,
        "Identifier, the same in all records of this flood.",
        |row| Value::Uid(row.uid),
    ),
    column(
        "state",
        Kind::Enum,
        "`begun`: the alarm; `ongoing`: once for each window; `over`.",
        |row| Value::Text(row.state.name()),
    ),
    column("dst", Kind::Address, "Who is flooded.", |row| {
        Value::Address(row.target)
    }),
    column(
        "kind",
        Kind::Enum,
        "`syn`: handshakes never done; `icmp`; `udp`: no answer; `ack`, `rst`: of no connection.",
        |row| Value::Text(row.kind.name()),
    ),
    column(
        "port",
        Kind::Port,
        "The port that most of it went to; unset for ICMP.",
        |row| row.port.map_or(Value::Unset, Value::Port),
    ),
    column(
        "sources",
        Kind::Count,
        "Source addresses, which may be forged.",
        |row| Value::Count(row.source_count),
    ),
    column(
        "source_samples",
        Kind::AddressSet,
        "The sources seen first.",
        |row| Value::addresses(row.sources.as_slice()),
    ),
    column("packets", Kind::Count, "Packets of the flood.", |row| {
        Value::Count(row.packets)
    }),
    column(
        "peak_rate",
        Kind::Count,
        "The most packets per second, over about a second.",
        |row| Value::Count(row.peak_rate),
    ),
    column(
        "estimated",
        Kind::Bool,
        "Whether packets and sources are estimates (standard error 4 %) or exact.",
        |row| Value::Bool(row.estimated),
    ),
    column(
        "end_ts",
        Kind::Time,
        "Capture time of its last packet.",
        |row| Value::Time(row.last),
    ),
    column(
        "first_packet",
        Kind::Count,
        "Number of its first packet.",
        |row| Value::Count(row.first_packet),
    ),
];
