//! What a record costs: formats one connection over and over. Run it under a counter of
//! instructions, with two counts; the difference is the cost without the start:
//!
//! ```sh
//! cargo build --release -p flowpin-output --example format_bench
//! perf stat -e instructions:u,cycles:u target/release/examples/format_bench eve 1000000
//! ```

use core::net::{IpAddr, Ipv4Addr};
use flowpin_config::{Format, OutputPlan};
use flowpin_output::{Formatter, Merger, Writers};
use flowpin_packet::{InterfaceId, TcpFlags, Timestamp};
use flowpin_record::{
    ConnRecord, ConnState, Direction, EndReason, FlowState, History, RecordEndpoint, RecordKey,
    RecordSink, TcpState, Uid,
};
use std::time::Instant;

fn main() {
    let mut words = std::env::args().skip(1);
    let format = match words.next().as_deref() {
        Some("eve" | "eve+id") | None => Format::Eve,
        Some("zeek") => Format::ZeekTsv,
        Some("zeek-json") => Format::ZeekJson,
        Some("csv") => Format::Csv,
        Some("parquet") => Format::Parquet,
        Some(_) => Format::None,
    };
    let community_id = std::env::args().nth(1).as_deref() == Some("eve+id");
    let count: u64 = words
        .next()
        .and_then(|word| word.parse().ok())
        .unwrap_or(1_000_000);
    let to_files = words.next();
    let plan = OutputPlan {
        formats: vec![format],
        community_id,
        dir: to_files.clone().unwrap_or_default().into(),
        replace: true,
        ..OutputPlan::default()
    };
    let records: Vec<_> = (0..RECORDS).map(record).collect();
    let mut formatter = Formatter::new(&plan);
    let (mut merger, mut writers) = (Merger::new(1), None);
    if to_files.is_some() {
        writers = Writers::open(&plan).ok();
    }
    let (started, mut bytes) = (Instant::now(), 0);
    let mut records = records.iter().cycle();
    for number in 0..count {
        let Some(record) = records.next() else { return };
        let time = Timestamp(START + number * 10_000);
        let ordinal = 0;
        formatter.conn(
            RecordKey {
                time,
                number,
                ordinal,
            },
            record,
        );
        if number % 512 == 511 {
            bytes += formatter.held_bytes();
            let batch = formatter.take_batch(time);
            if let Some(writers) = &mut writers {
                merger.push(0, batch);
                if let Err(error) = merger.drain(writers, |_, batch| formatter.recycle(batch)) {
                    println!("{error}");
                    return;
                }
            } else {
                formatter.recycle(batch);
            }
        }
    }
    let nanos = started.elapsed().as_nanos() as u64;
    let (per, size) = (nanos / count.max(1), bytes as u64 / count.max(1));
    println!("{count} records, {per} ns and {size} bytes each");
}

/// Noon: the date stays the same, as it does in most captures.
const START: u64 = 1_709_208_000_000_000_000;

/// As many different ones as defeat a branch predictor that learns by heart.
const RECORDS: u64 = 4096;

/// Sizes, ports and addresses of all lengths, as connections have them.
fn record(index: u64) -> ConnRecord {
    let mixed = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (index << 23);
    let bytes = (mixed >> 40) >> (mixed & 15);
    let direction = |packets: u64, bytes: u64| Direction {
        packets,
        frame_bytes: bytes + packets * 66,
        ip_bytes: bytes + packets * 52,
        payload_bytes: bytes,
        stream_bytes: bytes,
        tcp_flags: TcpFlags(0x1b),
        ..Direction::default()
    };
    let mut history = History::default();
    for (place, letter) in history.letters.iter_mut().zip(*b"ShADadFf") {
        *place = letter;
    }
    history.len = 8;
    let endpoint = |address: u64, port: u64| RecordEndpoint {
        address: IpAddr::V4(Ipv4Addr::from(address as u32)),
        port: port as u16,
    };
    ConnRecord {
        uid: Uid(mixed),
        start: Timestamp(START - (mixed >> 30)),
        end: Timestamp(START + (mixed >> 31)),
        open_until: Timestamp(START + (mixed >> 31)),
        first_packet: index * 13,
        protocol: if mixed & 0x300 == 0 { 17 } else { 6 },
        client: endpoint(mixed >> 7, mixed >> 9),
        server: endpoint(mixed >> 13, if mixed & 64 == 0 { 443 } else { 80 }),
        to_server: direction(mixed >> 33 & 31, bytes / 7),
        to_client: direction(mixed >> 37 & 63, bytes),
        conn_state: if mixed & 128 == 0 {
            ConnState::SF
        } else {
            ConnState::RSTO
        },
        history,
        flow_state: FlowState::Closed,
        tcp_state: TcpState::Closed,
        reason: EndReason::Closed,
        interim: 0,
        rtt_ns: Some(mixed >> 36),
        vlans: [u16::MAX; 2],
        interface: InterfaceId::NONE,
        tunnel: None,
        flipped: false,
        midstream: false,
        icmp: None,
        app: None,
        alerted: false,
    }
}
