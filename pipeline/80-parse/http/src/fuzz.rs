//! Fuzzing: any bytes in any turns, and the laws that hold for them.

use crate::{BodyOptions, Http, HttpOptions};
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_parser::testing::Trial;
use flowpin_parser::{Next, ParserSetup};
use flowpin_record::{FilePart, MessageSchema, MessageSink, Value};
use std::io;

/// The reports of a parser, as text, in order.
#[derive(Debug, Default)]
pub(crate) struct Told(pub(crate) Vec<String>, Vec<(u64, Vec<u8>)>, Readers);

/// Whether records are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Readers {
    #[default]
    Some,
    None,
}

impl Told {
    /// A sink that does not read the values of records.
    fn unread() -> Self {
        Self(Vec::new(), Vec::new(), Readers::None)
    }
}

impl MessageSink for Told {
    fn reads(&self, _: &MessageSchema) -> bool {
        self.2 == Readers::Some
    }

    fn message(&mut self, _: &MessageSchema, time: Timestamp, values: &[Value<'_>]) {
        self.0.push(format!("{} {values:?}", time.0));
    }

    fn anomaly(&mut self, event: &'static str) {
        self.0.push(event.to_owned());
    }

    fn file(&mut self, part: FilePart<'_>) {
        let bytes = |files: &mut Vec<(u64, Vec<u8>)>, file: u64, bytes: &[u8]| {
            let found = files.iter_mut().find(|(number, _)| *number == file);
            if let Some((_, all)) = found {
                all.extend_from_slice(bytes);
            }
        };
        match part {
            FilePart::Begin(file) => self.1.push((file, Vec::new())),
            FilePart::Data(file, data) => bytes(&mut self.1, file, data),
            FilePart::Missing(file, len) => bytes(&mut self.1, file, format!("<{len}>").as_bytes()),
            FilePart::End(file, is_whole) => {
                let ended = self.1.iter().position(|(number, _)| *number == file);
                if let Some(at) = ended {
                    let (_, bytes) = self.1.remove(at);
                    self.0
                        .push(format!("file {file} {is_whole} {}", bytes.escape_ascii()));
                }
            }
        }
    }
}

/// One step of a conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    /// Bytes of one side.
    Data(bool, &'a [u8]),
    /// Missing bytes.
    Gap(bool, u64),
    /// A side's end.
    Closed(bool),
}

/// A parser whose shards have `shard_bytes`, and as much for bodies.
pub(crate) fn parser(options: HttpOptions, shard_bytes: u64) -> io::Result<Trial<Http>> {
    let budget = || Budget::new(shard_bytes);
    let setup = ParserSetup::default().with_budgets(budget(), budget());
    Ok(Trial::new(Http::with_options(options, &setup)?, &setup))
}

/// Feeds steps in pieces of `piece` bytes, and returns the reports.
pub(crate) fn feed(http: &mut Trial<Http>, steps: &[Step<'_>], piece: usize) -> Vec<String> {
    feed_to(http, steps, piece, Told::default())
}

fn feed_to(
    http: &mut Trial<Http>,
    steps: &[Step<'_>],
    piece: usize,
    mut told: Told,
) -> Vec<String> {
    let Some(connection) = http.begin(0) else {
        return told.0;
    };
    for (nth, &step) in steps.iter().enumerate() {
        let at = Timestamp(nth as u64);
        if one(http, connection, at, step, piece, &mut told) == Next::Nothing {
            // Both sides have ended, so the parser has released the connection.
            return told.0;
        }
    }
    http.end(connection, Timestamp(steps.len() as u64), &mut told);
    told.0
}

/// Takes one step, and returns how the parser continues.
pub(crate) fn one(
    http: &mut Trial<Http>,
    connection: u32,
    at: Timestamp,
    step: Step<'_>,
    piece: usize,
    told: &mut Told,
) -> Next {
    match step {
        Step::Data(to_server, bytes) => {
            let mut next = Next::More;
            for part in bytes.chunks(piece.max(1)) {
                next = http.data(connection, at, to_server, part, told);
            }
            next
        }
        Step::Gap(to_server, len) => http.gap(connection, at, to_server, len, told),
        Step::Closed(to_server) => http.closed(connection, at, to_server, told),
    }
}

/// Reads a conversation from `data`: the reports do not depend on pieces, and all memory is
/// released. The byte 0xa5 ends a turn; the byte after it selects the side of the next turn, or
/// another step.
#[doc(hidden)]
pub fn fuzz_http(data: &[u8]) {
    let Some((&settings, data)) = data.split_first() else {
        return;
    };
    let mut steps = Vec::new();
    for turn in data.split(|&byte| byte == 0xa5) {
        let Some((&what, bytes)) = turn.split_first() else {
            continue;
        };
        let to_server = what & 1 == 0;
        steps.push(match what >> 1 & 15 {
            13 => Step::Gap(to_server, u64::from(what >> 5)),
            14 => Step::Closed(to_server),
            _ => Step::Data(to_server, bytes),
        });
    }
    let options = HttpOptions {
        all_fields: settings & 1 != 0,
        line_bytes_max: if settings & 2 == 0 { 64 } else { 16 << 10 },
        pipelined_max: if settings & 4 == 0 { 2 } else { 256 },
        value_bytes_max: if settings & 8 == 0 { 16 } else { 8 << 10 },
        bodies: BodyOptions {
            decode: settings & 0x80 != 0,
            md5: settings & 0x40 != 0,
            files: settings & 0xc0 != 0,
            decoded_bytes_max: 1 << 20,
            ..BodyOptions::default()
        },
        ..HttpOptions::default()
    };
    let Ok(mut http) = parser(options, 1 << 20) else {
        return;
    };
    let whole = feed(&mut http, &steps, usize::MAX);
    for piece in [1, 2, usize::from(settings >> 4).wrapping_add(3)] {
        let pieces = feed(&mut http, &steps, piece);
        assert_eq!(whole, pieces, "in pieces of {piece}: {steps:?}");
    }
    // If records are not read, there are as many, with the same anomalies.
    let unread = feed_to(&mut http, &steps, usize::MAX, Told::unread());
    let bare = |told: &[String]| -> Vec<String> {
        let head = |one: &String| one.split(" [").next().unwrap_or_default().to_owned();
        told.iter().map(head).collect()
    };
    assert_eq!(bare(&whole), bare(&unread), "{steps:?}");
    assert!(http.parser.is_empty(), "{steps:?}");
    // With very little memory there are fewer records, but no failure.
    if let Ok(mut http) = parser(options, 3000) {
        feed(&mut http, &steps, usize::MAX);
        feed(&mut http, &steps, 5);
        assert!(http.parser.is_empty(), "{steps:?}");
    }
}
