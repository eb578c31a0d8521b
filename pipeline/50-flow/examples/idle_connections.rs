//! Resident memory of idle connections: `idle_connections [COUNT] [tcp|udp|udp6]`.
//!
//! Opens COUNT connections (a million by default), leaves them idle, and prints the growth of
//! resident memory in total and per connection.

use flowpin_flow::{FlowOptions, ShardSet, Table, Timeouts};
use flowpin_packet::{FlowKey, FrameBytes, PacketFlags, PacketKind, PacketMeta, Seq, Timestamp};
use flowpin_record::{AnomalyRecord, ConnRecord, RecordKey, RecordSink, TunnelRecord};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let count = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000_000u64);
    let what = arguments.next().unwrap_or_else(|| "tcp".to_owned());
    let options = FlowOptions {
        timeouts: Timeouts::Zeek,
        memory_bytes: 64 << 30,
        ..FlowOptions::default()
    };
    let mut table = Table::new(&options, ShardSet::ALL)?;
    let mut batch = vec![PacketMeta::default(); 32];
    let mut bytes = vec![0; 64 * batch.len()];
    let before = resident_bytes()?;
    let mut number = 0;
    while number < count {
        for (nth, meta) in batch.iter_mut().enumerate() {
            number += 1;
            *meta = packet(number, nth, &what);
            let address = nth * 64 + 38;
            bytes[address..address + 8].copy_from_slice(&number.to_be_bytes());
        }
        let frames = FrameBytes {
            piece: &bytes,
            extra: &[],
        };
        table.prefetch(&batch);
        table.process(frames, &batch, &mut Nothing, &mut ());
        table.tick(Timestamp(number * 10), &mut Nothing, &mut ());
    }
    let grown = resident_bytes()?.saturating_sub(before);
    println!(
        "{} idle connections ({what}): {grown} bytes resident, {:.1} each",
        table.live(),
        grown as f64 / table.live() as f64
    );
    Ok(())
}

fn packet(number: u64, nth: usize, what: &str) -> PacketMeta {
    let mixed = mix(number);
    let place = mix(mixed);
    let tcp = what == "tcp";
    let ipv6 = what == "udp6";
    let family = if ipv6 {
        FlowKey::IPV6_BIT
    } else {
        number << 16 & 0xffff_ffff_0000
    };
    let protocol = if tcp { 6 } else { 17 };
    PacketMeta {
        key: FlowKey {
            low: family | u64::from(protocol) << 48 | 80,
            high: mixed,
        },
        time: Timestamp(number * 10),
        stream_time: Timestamp(number * 10),
        number,
        hash: place as u32,
        frame_start: nth as u32 * 64,
        captured_len: 64,
        wire_len: 60,
        ip_len: 46,
        kind: if tcp {
            PacketKind::Tcp
        } else {
            PacketKind::Udp
        },
        protocol,
        // Established connections: the longest time-out.
        tcp_flags: flowpin_packet::TcpFlags::ACK,
        seq: Seq(number as u32),
        window: 1,
        l3_offset: 14,
        flags: if ipv6 {
            PacketFlags::IPV6
        } else {
            PacketFlags(0)
        },
        ..PacketMeta::default()
    }
}

fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 29).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 32
}

/// Resident pages now.
fn resident_bytes() -> std::io::Result<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = statm
        .split_whitespace()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    Ok(pages * 4096)
}

struct Nothing;

impl RecordSink for Nothing {
    fn conn(&mut self, _: RecordKey, _: &ConnRecord) {}
    fn anomaly(&mut self, _: RecordKey, _: &AnomalyRecord) {}
    fn tunnel(&mut self, _: RecordKey, _: &TunnelRecord) {}
}
