//! What a head costs: `heads scan|parser|httparse FILE ROUNDS`, under `perf stat`.
//!
//! The file holds one request with its head. `scan` finds lines, names and values; `parser` makes
//! records of requests and short responses; `httparse` is the crate of that name.

use flowpin_http::{Http, Parser, head_fields};
use flowpin_packet::{Shard, Timestamp};
use flowpin_parser::{Begin, ParserSetup};
use flowpin_record::{MessageSchema, MessageSink, Value};
use std::hint::black_box;

#[derive(Default)]
struct Count(u64);

impl MessageSink for Count {
    fn message(&mut self, _: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        self.0 += black_box(values).len() as u64;
    }

    fn anomaly(&mut self, event: &'static str) {
        panic!("{event}");
    }
}

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [what, file, rounds] = words.as_slice() else {
        eprintln!("usage: heads scan|parser|httparse FILE ROUNDS");
        return Ok(());
    };
    let head = std::fs::read(file)?;
    let rounds: u64 = rounds.parse().unwrap_or(1);
    let found = match what.as_str() {
        "scan" => (0..rounds).map(|_| head_fields(black_box(&head))).sum(),
        "httparse" => (0..rounds).map(|_| httparse(black_box(&head))).sum(),
        _ => parser(&head, rounds)?,
    };
    println!("{found} in {} bytes", head.len() as u64 * rounds);
    Ok(())
}

fn httparse(head: &[u8]) -> usize {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => request.headers.len(),
        _ => 0,
    }
}

fn parser(head: &[u8], rounds: u64) -> std::io::Result<usize> {
    let mut http = Http::new(&ParserSetup::default())?;
    let mut sink = Count::default();
    let begin = Begin {
        protocol: 0,
        shard: Shard(0),
        at: Timestamp(0),
    };
    let Some(handle) = http.begin(begin, || unreachable!()) else {
        return Ok(0);
    };
    for nth in 0..rounds {
        let at = Timestamp(nth);
        http.data(handle, at, true, black_box(head), &mut sink);
        http.data(handle, at, false, b"HTTP/1.1 204 x\r\n\r\n", &mut sink);
    }
    http.end(handle, Timestamp(rounds), &mut sink);
    Ok(usize::try_from(sink.0).unwrap_or(usize::MAX))
}
