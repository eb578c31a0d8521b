//! Measures the cost of a message: `fix_bench [split|parse|straddle|all|wait] [messages]`.
//!
//! The input is a NewOrderSingle of 150 bytes and 17 fields, repeated in memory: `split` splits it
//! into fields and verifies its frame, `parse` also follows the session and builds the record,
//! `straddle` does the same with segments of 92 bytes, `all` lists every field, `wait` does
//! nothing. Count with `perf stat -e instructions:u,cycles:u` and subtract `wait`.

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use flowpin_fix::{Dictionary, Fields, Fix, FixOptions, Frame, frame, from_printed};
use flowpin_packet::{Shard, Timestamp};
use flowpin_parser::{Begin, Parser, ParserSetup};
use flowpin_record::{MessageSchema, MessageSink, Value};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

struct Count(u64);

impl MessageSink for Count {
    #[inline]
    fn message(&mut self, _: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        self.0 += black_box(values).len() as u64;
    }

    fn anomaly(&mut self, event: &'static str) {
        panic!("{event}");
    }
}

fn order(number: u32) -> Vec<u8> {
    let body = format!(
        "35=D|34={number}|49=CLIENT12|56=BROKER|52=20260101-12:30:00.123|11=ID{number}|21=1|55=IBM|\
         54=1|38=2000|40=2|44=126.50|59=0|60=20260101-12:30:00|"
    );
    let body = from_printed(body.as_bytes());
    let mut wire = format!("8=FIX.4.4\u{1}9={}\u{1}", body.len()).into_bytes();
    wire.extend(body);
    let sum = wire.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    wire.extend(format!("10={sum:03}\u{1}").into_bytes());
    wire
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "parse".into());
    let count: u32 = arguments.next().map_or(10_000_000, |n| n.parse().unwrap());
    // A few thousand messages, so that they neither fit the first-level caches nor train the branch
    // predictors.
    let block: Vec<Vec<u8>> = (0..2000).map(|at| order(100_001 + at)).collect();
    let bytes: usize = block.iter().map(Vec::len).sum();
    let stream = block.concat();
    let begun = Instant::now();
    let rounds = count as usize / block.len();
    match &*what {
        "split" => split(&stream, rounds),
        "parse" | "all" => parse(&stream, rounds, stream.len(), what == "all"),
        "straddle" => parse(&stream, rounds, 92, false),
        _ => {}
    }
    let nanos = begun.elapsed().as_nanos() as f64 / (rounds * block.len()) as f64;
    println!(
        "{what}: {nanos:.1} ns a message of {} bytes, {} messages",
        bytes / block.len(),
        rounds * block.len()
    );
}

fn split(stream: &[u8], rounds: usize) {
    let mut fields = Fields::new(Arc::new(Dictionary::bundled()), 100);
    let mut sum = 0;
    for _ in 0..rounds {
        let mut rest = black_box(stream);
        while !rest.is_empty() {
            let Frame::Message(window) = frame(rest, 1 << 16, false) else {
                panic!("no message");
            };
            let (message, next) = rest.split_at(window.len);
            fields.split(message);
            assert!(window.checksum_ok == Some(true));
            sum += black_box(&fields).list().len();
            rest = next;
        }
    }
    println!("{sum} fields");
}

fn parse(stream: &[u8], rounds: usize, segment: usize, all_fields: bool) {
    let options = FixOptions {
        all_fields,
        ..FixOptions::default()
    };
    let mut fix = Fix::with_options(options, &ParserSetup::default()).unwrap();
    let begin = Begin {
        protocol: 0,
        shard: Shard(9),
        at: Timestamp(1),
    };
    let mut sink = Count(0);
    for _ in 0..rounds {
        let handle = fix.begin(begin, || unreachable!()).unwrap();
        for part in black_box(stream).chunks(segment) {
            fix.data(handle, Timestamp(1), true, part, &mut sink);
        }
        fix.end(handle, Timestamp(1), &mut sink);
    }
    println!("{} values", sink.0);
}
