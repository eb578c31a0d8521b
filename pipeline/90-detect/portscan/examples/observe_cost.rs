//! Cost of observing: `observe_cost [benign|spoofed] [CONNECTIONS] [decide]`.
//!
//! - `benign`: 1,000 clients of 1,000 servers, 20,000 connections a second, answered and used
//! - `spoofed`: SYNs of forged sources to one port, a million a second
//!
//! With `decide` the merger's work is done too. For instructions a connection run it under `perf
//! stat -e instructions:u` with two numbers of connections and divide the difference.

use flowpin_packet::Timestamp;
use flowpin_portscan::{Begin, Merger, Observer, Probe, ScanCaps, ScanOptions, Steps};
use flowpin_record::{AnomalyRecord, ConnRecord, RecordKey, RecordSink, TunnelRecord};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let spoofed = arguments.first().is_some_and(|what| what == "spoofed");
    let count: u64 = arguments
        .get(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000_000);
    let decide = arguments.get(2).is_some_and(|what| what == "decide");
    let step = if spoofed { 1_000 } else { 50_000 };
    let mut observer = Observer::new(ScanCaps::default());
    let mut merger = Merger::new(1, ScanOptions::default());
    let mut sink = Nothing;
    for number in 0..count {
        let time = Timestamp(1_000_000_000_000 + number * step);
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (mut source, mut target) = ([10_u8; 16], [20_u8; 16]);
        let client = if spoofed {
            (mixed >> 32) as u32
        } else {
            (mixed >> 40) as u32 % 1000
        };
        source[..4].copy_from_slice(&client.to_be_bytes());
        if !spoofed {
            target[..2].copy_from_slice(&((mixed >> 20) as u16 % 1000).to_be_bytes());
        }
        let handle = (number & 0xffff) as u32;
        observer.began(&Begin {
            source,
            target,
            time,
            stream_time: time,
            number,
            handle,
            source_port: number as u16,
            port: 443,
            shard: (mixed >> 56) as u8,
            probe: Probe::Syn,
            ipv6: false,
        });
        if !spoofed {
            let steps = [
                Steps::ACCEPTED.with(Steps::ANSWERED),
                Steps::WENT_ON.with(Steps::CLIENT_DATA),
            ];
            steps
                .iter()
                .for_each(|&steps| observer.saw(handle, time, steps));
        }
        if number % 1000 == 0
            && let Some(summary) = observer.tick(time)
            && decide
        {
            merger.add(0, summary);
            merger.decide(&mut sink);
        }
    }
    println!("{count} connections, {} held", observer.held());
}

struct Nothing;

impl RecordSink for Nothing {
    fn conn(&mut self, _: RecordKey, _: &ConnRecord) {}
    fn anomaly(&mut self, _: RecordKey, _: &AnomalyRecord) {}
    fn tunnel(&mut self, _: RecordKey, _: &TunnelRecord) {}
}
