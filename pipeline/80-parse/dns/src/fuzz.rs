//! Fuzzing: any messages, any cut, and what must hold whatever they are.

use crate::{Dns, DnsOptions, Flavour};
use flowpin_counters::Losses;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::{MessageSchema, MessageSink, Value};

/// Writes down all that it is told.
#[derive(Debug, Default)]
pub(crate) struct Told(pub(crate) Vec<String>);

/// Writes down which records and anomalies there are, and reads no record's values, or does.
#[derive(Debug, Default, PartialEq, Eq)]
struct Heard {
    reads: bool,
    events: Vec<(String, Timestamp)>,
}

impl MessageSink for Heard {
    fn message(&mut self, schema: &MessageSchema, time: Timestamp, _: &[Value<'_>]) {
        self.events.push((schema.name.to_string(), time));
    }

    fn reads(&self, _: &MessageSchema) -> bool {
        self.reads
    }

    fn anomaly(&mut self, event: &'static str) {
        self.events.push((event.into(), Timestamp(0)));
    }
}

impl MessageSink for Told {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        assert_eq!(values.len(), schema.columns.len());
        self.0.push(format!("{} {values:?}", schema.name));
    }

    fn anomaly(&mut self, event: &'static str) {
        self.0.push(event.into());
    }
}

/// Reads messages from `data`: as datagrams of every kind they must not panic; as streams, what is
/// told is the same for whole turns and for pieces. The same records are told where nobody reads
/// them. Nothing stays behind.
#[doc(hidden)]
pub fn fuzz_dns(data: &[u8]) {
    let Some((&settings, data)) = data.split_first() else {
        return;
    };
    let turns: Vec<&[u8]> = data.split(|&byte| byte == 0xa5).collect();
    let flavour = match settings & 3 {
        0 => Flavour::Mdns,
        1 => Flavour::Llmnr,
        _ => Flavour::Dns,
    };
    datagrams(settings, flavour, &turns, &mut Told::default());
    let [read, unread] = [true, false].map(|reads| {
        let mut sink = Heard {
            reads,
            ..Heard::default()
        };
        let losses = datagrams(settings, flavour, &turns, &mut sink);
        (sink.events, losses)
    });
    assert_eq!(read, unread, "{turns:02x?}");
    let whole = told(&turns, usize::MAX, false);
    let piece = usize::from(settings >> 4).saturating_add(1);
    assert_eq!(whole, told(&turns, piece, false), "{turns:02x?}");
    let framed = told(&turns, usize::MAX, true);
    assert_eq!(framed, told(&turns, piece, true), "{turns:02x?}");
}

/// Each turn is a datagram; what was lost.
fn datagrams<S: MessageSink>(
    settings: u8,
    flavour: Flavour,
    turns: &[&[u8]],
    sink: &mut S,
) -> Option<Losses> {
    let mut dns = Dns::new(options()).ok()?;
    let handle = dns.begin(Shard(3), flavour)?;
    let mut to_server = true;
    for (at, turn) in (1..).zip(turns) {
        let wire_len = turn.len().saturating_add(usize::from(settings >> 7));
        dns.datagram(handle, Timestamp(at), to_server, turn, wire_len, sink);
        to_server = !to_server;
    }
    dns.end(handle, Timestamp(u64::MAX), sink);
    assert_eq!(dns.in_use(), [0; 3]);
    Some(*dns.losses())
}

pub(crate) fn options() -> DnsOptions {
    DnsOptions {
        shard_connections_max: 2,
        shard_bytes_max: 1 << 18,
        shard_requests_max: 4,
        requests_max: 3,
        ..DnsOptions::default()
    }
}

/// What is told of turns over TCP (the client's first) that come in pieces of so many bytes; with
/// their length before them, if they have none.
pub(crate) fn told(turns: &[&[u8]], piece: usize, with_length: bool) -> Vec<String> {
    let mut sink = Told::default();
    let Ok(mut dns) = Dns::new(options()) else {
        return sink.0;
    };
    let Some(handle) = dns.begin(Shard(7), Flavour::Dns) else {
        return sink.0;
    };
    let mut to_server = true;
    let at = Timestamp(1);
    for turn in turns {
        let mut stream = Vec::new();
        if with_length {
            stream.extend(u16::try_from(turn.len()).unwrap_or(u16::MAX).to_be_bytes());
        }
        stream.extend_from_slice(turn);
        for part in stream.chunks(piece) {
            dns.data(handle, at, to_server, part, &mut sink);
        }
        if turn.is_empty() && !with_length {
            dns.gap(handle, at, to_server, 1, &mut sink);
        }
        to_server = !to_server;
    }
    dns.end(handle, at, &mut sink);
    assert_eq!(dns.in_use(), [0; 3]);
    sink.0
}
