//! Fuzzing: arbitrary messages in arbitrary pieces, and the properties that hold for all of them.

use crate::Dns;
use crate::options::DnsOptions;
use flowpin_counters::Losses;
use flowpin_packet::Timestamp;
use flowpin_parser::testing::{Records, Trial, turns};
use flowpin_parser::{Parser, ParserSetup};
use flowpin_record::{MessageSchema, MessageSink, Value};

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

/// Reads messages from `data`. As datagrams of every kind they must not panic; as streams, whole
/// turns and pieces of them give the same report. The same records are reported to a sink that does
/// not read their values. No call takes much memory, and none stays in use.
#[doc(hidden)]
pub fn fuzz_dns(data: &[u8]) {
    let Some((&settings, data)) = data.split_first() else {
        return;
    };
    let turns: Vec<&[u8]> = data.split(|&byte| byte == 0xa5).collect();
    let protocol = match settings & 3 {
        0 => 1,
        1 => 2,
        _ => 0,
    };
    datagrams(settings, protocol, &turns, &mut Records::default());
    let [read, unread] = [true, false].map(|reads| {
        let mut sink = EventCollector {
            reads,
            ..EventCollector::default()
        };
        let losses = datagrams(settings, protocol, &turns, &mut sink);
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
    protocol: u16,
    turns: &[&[u8]],
    sink: &mut S,
) -> Option<Losses> {
    let mut trial = trial(options(), &ParserSetup::default())?;
    let connection = trial.begin(protocol)?;
    let mut to_server = true;
    for (at, turn) in (1..).zip(turns) {
        let wire_len = turn.len().saturating_add(usize::from(settings >> 7));
        trial.datagram(connection, Timestamp(at), to_server, (turn, wire_len), sink);
        to_server = !to_server;
    }
    Some(trial.finish(sink).losses())
}

pub(crate) fn trial(options: DnsOptions, setup: &ParserSetup) -> Option<Trial<Dns>> {
    let dns = Dns::with_options(options, setup).ok()?;
    Some(Trial::new(dns, setup))
}

pub(crate) fn options() -> DnsOptions {
    DnsOptions {
        requests_max: 3,
        ..DnsOptions::default()
    }
}

/// Returns what is reported for turns over TCP (the client's first) delivered in pieces of `piece`
/// bytes; `with_length` puts their length before them.
pub(crate) fn reported(all: &[&[u8]], piece: usize, with_length: bool) -> Vec<String> {
    let streams = all.iter().map(|turn| {
        let len = u16::try_from(turn.len()).unwrap_or(u16::MAX).to_be_bytes();
        let len: &[u8] = if with_length { &len } else { &[] };
        [len, turn].concat()
    });
    let streams: Vec<Vec<u8>> = streams.collect();
    let streams: Vec<&[u8]> = streams.iter().map(Vec::as_slice).collect();
    let setup = ParserSetup::default();
    let dns = Dns::with_options(options(), &setup);
    dns.map_or_else(
        |_| Vec::new(),
        |dns| turns(dns, &setup, 0, &streams, piece).records,
    )
}
