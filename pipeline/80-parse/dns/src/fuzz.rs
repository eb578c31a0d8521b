//! Fuzzing: arbitrary messages in arbitrary pieces, and the properties that hold for all of them.

use crate::{Dns, DnsOptions, Flavour};
use flowpin_counters::Losses;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::{MessageSchema, MessageSink, Value};

/// Collects everything that the parser reports.
#[derive(Debug, Default)]
pub(crate) struct Collector(pub(crate) Vec<String>);

/// Collects the kinds and times of records and all anomalies; `reads` is its answer to the parser's
/// question whether it reads the values of records.
#[derive(Debug, Default, PartialEq, Eq)]
struct EventCollector {
    reads: bool,
    events: Vec<(String, Timestamp)>,
}

impl MessageSink for EventCollector {
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

impl MessageSink for Collector {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        assert_eq!(values.len(), schema.columns.len());
        self.0.push(format!("{} {values:?}", schema.name));
    }

    fn anomaly(&mut self, event: &'static str) {
        self.0.push(event.into());
    }
}

/// Reads messages from `data`. As datagrams of every kind they must not panic; as streams, whole
/// turns and pieces of them give the same report. The same records are reported to a sink that does
/// not read their values. No memory stays in use.
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
    datagrams(settings, flavour, &turns, &mut Collector::default());
    let [read, unread] = [true, false].map(|reads| {
        let mut sink = EventCollector {
            reads,
            ..EventCollector::default()
        };
        let losses = datagrams(settings, flavour, &turns, &mut sink);
        (sink.events, losses)
    });
    assert_eq!(read, unread, "{turns:02x?}");
    let whole = reported(&turns, usize::MAX, false);
    let piece = usize::from(settings >> 4).saturating_add(1);
    assert_eq!(whole, reported(&turns, piece, false), "{turns:02x?}");
    let framed = reported(&turns, usize::MAX, true);
    assert_eq!(framed, reported(&turns, piece, true), "{turns:02x?}");
}

/// Parses each turn as a datagram; returns the losses.
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

/// Returns what is reported for turns over TCP (the client's first) delivered in pieces of `piece`
/// bytes; `with_length` puts their length before them.
pub(crate) fn reported(turns: &[&[u8]], piece: usize, with_length: bool) -> Vec<String> {
    let mut sink = Collector::default();
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
