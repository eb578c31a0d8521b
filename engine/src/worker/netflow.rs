//! The `netflow` events of a connection, as Suricata's logger of that name writes them: one for
//! each direction that had packets, when the connection ends.

use core::array;
use flowpin_packet::TcpFlags;
use flowpin_record::{
    ConnRecord, Direction, Kind, MessageColumn, MessagePlace, MessageSchema, NO_TRANSACTION,
    RecordKey, RecordSink, ToolNames, Value,
};

const fn column(eve: &'static str, kind: Kind, doc: &'static str) -> MessageColumn {
    MessageColumn::new("", eve, kind, doc)
}

/// The columns, in the order of [`put`].
const COLUMNS: &[MessageColumn] = &[
    column("", Kind::Bool, "Whether the client sent it."),
    column("netflow.pkts", Kind::Count, "Packets in this direction."),
    column("netflow.bytes", Kind::Count, "Bytes of their frames."),
    column(
        "netflow.start",
        Kind::Time,
        "Capture time of the connection's first packet.",
    ),
    column(
        "netflow.end",
        Kind::Time,
        "Capture time of its last packet.",
    ),
    column(
        "netflow.age",
        Kind::Count,
        "Whole seconds from `start` to `end`, as Suricata counts.",
    ),
    column(
        "tcp.tcp_flags",
        Kind::Text,
        "TCP: all flags of this direction, in hexadecimal digits.",
    ),
    column(
        "tcp.syn",
        Kind::Bool,
        "A segment with SYN was sent; left out if not.",
    ),
    column("tcp.fin", Kind::Bool, "Likewise FIN."),
    column("tcp.rst", Kind::Bool, "Likewise RST."),
    column("tcp.psh", Kind::Bool, "Likewise PSH."),
    column("tcp.ack", Kind::Bool, "Likewise ACK."),
    column("tcp.urg", Kind::Bool, "Likewise URG."),
    column("tcp.ecn", Kind::Bool, "Likewise ECE."),
    column("tcp.cwr", Kind::Bool, "Likewise CWR."),
];

const FLAGS: [TcpFlags; 8] = [
    TcpFlags::SYN,
    TcpFlags::FIN,
    TcpFlags::RST,
    TcpFlags::PSH,
    TcpFlags::ACK,
    TcpFlags::URG,
    TcpFlags::ECE,
    TcpFlags::CWR,
];

/// One direction of a connection.
pub(crate) static NETFLOW: MessageSchema = MessageSchema::new(
    "netflow",
    "One direction of a connection that has ended.",
    COLUMNS,
)
.only_events()
.sent_as_says(0);

/// Writes the events of a connection that has ended.
pub(super) fn put(sink: &mut impl RecordSink, key: RecordKey, record: &ConnRecord) {
    let place = MessagePlace {
        time: key.time,
        uid: record.uid,
        protocol: record.protocol,
        client: record.client,
        server: record.server,
        vlans: record.vlans,
        interface: record.interface,
        app: record.app.map_or("", |app| app.name),
        in_tools: record.app.map_or(ToolNames::NONE, |app| app.in_tools),
        transaction: NO_TRANSACTION,
        packet_number: None,
        shown_client: None,
    };
    for (is_client, direction) in [(true, &record.to_server), (false, &record.to_client)] {
        if direction.packets > 0 {
            put_direction(sink, (key, &place), record, (is_client, direction));
        }
    }
}

fn put_direction(
    sink: &mut impl RecordSink,
    (key, place): (RecordKey, &MessagePlace),
    record: &ConnRecord,
    (is_client, direction): (bool, &Direction),
) {
    let hexadecimal = hexadecimal(direction.tcp_flags);
    let is_tcp = record.protocol == 6;
    let mut values = [Value::Unset; COLUMNS.len()];
    if let Some((first, flags)) = values.split_first_chunk_mut::<7>() {
        let age = record.end.secs().saturating_sub(record.start.secs());
        *first = [
            Value::Bool(is_client),
            Value::Count(direction.packets),
            Value::Count(direction.frame_bytes),
            Value::Time(record.start),
            Value::Time(record.end),
            Value::Count(age),
            if is_tcp {
                Value::Bytes(&hexadecimal)
            } else {
                Value::Unset
            },
        ];
        for (value, flag) in flags.iter_mut().zip(FLAGS) {
            if is_tcp && direction.tcp_flags.0 & flag.0 != 0 {
                *value = Value::Bool(true);
            }
        }
    }
    sink.message(key, place, &NETFLOW, &values);
}

fn hexadecimal(flags: TcpFlags) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    array::from_fn(|place| {
        let digit = if place == 0 {
            flags.0 >> 4
        } else {
            flags.0 & 15
        };
        DIGITS.get(usize::from(digit)).copied().unwrap_or(b'0')
    })
}
