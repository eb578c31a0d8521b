//! The fuzzing entry point, and a parser for the payload that shows it.

use crate::Carried;
use crate::frames::Frames;
use flowpin_counters::Losses;
use flowpin_memory::{Budget, Slab};
use flowpin_packet::Timestamp;
use flowpin_parser::testing::{Records, Trial};
use flowpin_parser::{Begin, Ends, Next, Parser, ParserSetup, Reads};
use flowpin_record::{Kind, MessageColumn, MessageSchema, MessageSink, Value};
use std::io;

/// Reads any bytes as the frames of both directions, with gaps, in pieces of two lengths: the
/// payload is the same; so is what a parser gets of it, and all memory is given back.
///
/// The first byte is the length of pieces. Parts follow: a byte with the sender and a length, and
/// that number of bytes. An empty part is a gap of seven bytes.
pub fn fuzz_websocket(data: &[u8]) {
    let Some((&piece, rest)) = data.split_first() else {
        return;
    };
    let piece = usize::from(piece).max(1);
    assert_eq!(payloads(rest, piece), payloads(rest, usize::MAX));
    assert_eq!(carried(rest, piece), carried(rest, usize::MAX));
}

/// The parts of the input: who sends, and what.
fn parts(mut data: &[u8]) -> impl Iterator<Item = (bool, &[u8])> {
    core::iter::from_fn(move || {
        let (&head, body) = data.split_first()?;
        let len = usize::from(head >> 1).min(body.len());
        let (bytes, next) = body.split_at(len);
        data = next;
        Some((head & 1 == 0, bytes))
    })
}

/// For each side: its payload, how much of it is missing, and whether the side became unreadable.
fn payloads(data: &[u8], piece: usize) -> [(Vec<u8>, u64, bool); 2] {
    let mut sides = [(Vec::new(), 0u64, false), (Vec::new(), 0, false)];
    let mut frames = [Frames::default(); 2];
    for (to_server, bytes) in parts(data) {
        let ([client, server], [of_client, of_server]) = (&mut sides, &mut frames);
        let ((out, missing, is_lost), frames) = match to_server {
            true => (client, of_client),
            false => (server, of_server),
        };
        if *is_lost {
            continue;
        }
        if bytes.is_empty() {
            match frames.skip(GAP) {
                Ok(more) => *missing = missing.saturating_add(more),
                Err(_) => *is_lost = true,
            }
        }
        for part in bytes.chunks(piece) {
            let result = frames.read(part, &mut |bytes| out.extend_from_slice(bytes));
            if result.is_err() {
                *is_lost = true;
                break;
            }
        }
    }
    sides
}

/// What the parser of the payload gets, byte by byte.
pub(crate) fn carried(data: &[u8], piece: usize) -> Vec<String> {
    let mut sink = Records::default();
    let setup = ParserSetup::default();
    let Ok(parser) = Carried::<Bytes>::new(&setup) else {
        return sink.records;
    };
    let mut trial = Trial::new(parser, &setup);
    let Some(connection) = trial.begin(0) else {
        return sink.records;
    };
    let at = Timestamp(1);
    'parts: for (to_server, bytes) in parts(data) {
        if bytes.is_empty() && trial.gap(connection, at, to_server, GAP, &mut sink) == Next::Nothing
        {
            break;
        }
        for part in bytes.chunks(piece) {
            if trial.data(connection, at, to_server, part, &mut sink) == Next::Nothing {
                break 'parts;
            }
        }
    }
    trial.finish(&mut sink);
    sink.records
}

/// A parser whose records are the bytes that it gets. It releases its connection after a zero.
#[derive(Debug)]
pub(crate) struct Bytes {
    connections: Slab<u8>,
    budget: Budget,
}

const COLUMNS: &[MessageColumn] = &[MessageColumn::new(
    "byte",
    "byte",
    Kind::Count,
    "Its value.",
)];
static BYTE: MessageSchema = MessageSchema::new("byte", "A byte of the payload.", COLUMNS);

impl Parser for Bytes {
    const PROTOCOLS: &'static [Reads] = &[];
    const CONNECTION_BYTES: u32 = 5;

    fn new(setup: &ParserSetup) -> io::Result<Self> {
        Ok(Self {
            connections: Slab::with_capacity(16)?,
            budget: setup.budget.clone(),
        })
    }

    fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
        assert!(self.budget.left(begin.shard.0) < self.budget.shard_bytes());
        self.connections.insert(begin.shard.0)
    }

    fn data<S: MessageSink>(
        &mut self,
        connection: u32,
        at: Timestamp,
        _: bool,
        bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        for &byte in bytes {
            sink.message(&BYTE, at, &[Value::Count(byte.into())]);
            if byte == 0 {
                self.end(connection, at, sink);
                return Next::Nothing;
            }
        }
        Next::More
    }

    fn gap<S: MessageSink>(
        &mut self,
        _: u32,
        at: Timestamp,
        _: bool,
        len: u64,
        sink: &mut S,
    ) -> Next {
        for _ in 0..len {
            sink.message(&BYTE, at, &[Value::Unset]);
        }
        Next::More
    }

    fn end<S: MessageSink>(&mut self, connection: u32, _: Timestamp, sink: &mut S) {
        sink.anomaly("ended");
        self.connections.remove(connection);
    }

    fn losses(&self) -> Losses {
        Losses::default()
    }
}

const GAP: u64 = 7;
