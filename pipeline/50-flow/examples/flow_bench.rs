//! Cost of the table alone, on synthetic packets: `flow_bench [mix|data|syn] [CONNECTIONS]
//! [ROUNDS]`.
//!
//! - `mix`: whole connections of 13 packets (handshake, data both ways, close), many at once
//! - `data`: packets in order on connections that stay open
//! - `syn`: a flood, in 64 MiB
//!
//! Prints nanoseconds of processor time per packet. For instructions, run it under `perf stat -e
//! instructions:u` or callgrind with two numbers of rounds, and divide the difference.

use flowpin_flow::{FlowOptions, ShardSet, Table};
use flowpin_packet::{
    FlowKey, FrameBytes, PacketFlags, PacketKind, PacketMeta, Seq, TcpFlags, Timestamp,
};
use flowpin_record::{AnomalyRecord, ConnRecord, RecordKey, RecordSink, TunnelRecord};
use std::hint::black_box;
use std::time::Duration;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "mix".to_owned());
    let mut number = |default| {
        arguments
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let (connections, rounds): (u64, u64) = (number(50_000), number(40));
    let memory_bytes = if what == "syn" { 64 << 20 } else { 4 << 30 };
    let mut table = Table::new(
        &FlowOptions {
            memory_bytes,
            ..FlowOptions::default()
        },
        ShardSet::ALL,
    )?;
    let mut source = Source {
        connections,
        what,
        packets: 0,
    };
    let mut sink = Count(0);
    let mut spent = Duration::ZERO;
    let mut packets = 0u64;
    let mut batches = vec![PacketMeta::default(); 512];
    for _ in 0..rounds {
        for _ in 0..(connections * 13).div_ceil(512) {
            source.fill(&mut batches);
            let start = flowpin_cpu::thread_cpu_time();
            run(&mut table, &batches, &mut sink);
            spent += flowpin_cpu::thread_cpu_time().saturating_sub(start);
            packets += 512;
        }
    }
    let counters = table.counters();
    println!(
        "{packets} packets, {} connections, {} records, {} live at most: {:.1} ns a packet",
        counters.created_total(),
        black_box(sink.0),
        counters.live_max,
        spent.as_nanos() as f64 / packets as f64
    );
    Ok(())
}

#[inline(never)]
fn run(table: &mut Table, piece: &[PacketMeta], sink: &mut Count) {
    let frames = FrameBytes {
        piece: &[],
        extra: &[],
    };
    for batch in piece.chunks(32) {
        table.prefetch(batch);
        table.process(frames, batch, sink, &mut ());
    }
    if let Some(last) = piece.last() {
        table.tick(last.stream_time, sink, &mut ());
    }
}

struct Source {
    connections: u64,
    what: String,
    packets: u64,
}

impl Source {
    #[inline(never)]
    fn fill(&mut self, piece: &mut [PacketMeta]) {
        for meta in piece {
            *meta = self.next();
        }
    }

    fn next(&mut self) -> PacketMeta {
        let nth = self.packets;
        self.packets += 1;
        // 200 ns a packet: a minute is 300 million.
        let time = Timestamp(1_000_000_000_000 + nth * 2_000);
        match self.what.as_str() {
            "syn" => segment(mix(nth), 0, time, nth),
            "data" => {
                let (connection, step) = (mix(nth % self.connections), nth / self.connections);
                let step = if step < 4 { step } else { 4 + step % 2 };
                let mut meta = segment(connection, step, time, nth);
                if step >= 4 {
                    // Acknowledgements only: sequence numbers stay.
                    let server = step == 4;
                    meta.flags = PacketFlags(if server { 2 } else { 0 });
                    meta.payload_len = 0;
                    meta.seq = Seq(if server { 1 } else { 501 });
                    meta.ack = Seq(if server { 501 } else { 1 });
                }
                meta
            }
            _ => {
                // Each group of connections goes through its 13 steps together.
                let group = self.connections;
                let (epoch, within) = (nth / (group * 13), nth % (group * 13));
                segment(
                    mix(epoch * group + within % group),
                    within / group,
                    time,
                    nth,
                )
            }
        }
    }
}

/// A step of a connection: SYN, SYN-ACK, ACK, three requests and answers with ACKs, both FINs.
fn segment(connection: u64, step: u64, time: Timestamp, number: u64) -> PacketMeta {
    let (syn, ack, fin) = (TcpFlags::SYN, TcpFlags::ACK, TcpFlags::FIN);
    // (from the server, flags, payload, sequence number, acknowledgement)
    let (back, flags, len, seq, acked) = match step {
        0 => (false, syn, 0, 0, 0),
        1 => (true, syn.with(ack), 0, 0, 1),
        2 => (false, ack, 0, 1, 1),
        3 => (false, ack, 500, 1, 1),
        4 => (true, ack, 0, 1, 501),
        5 => (true, ack, 1400, 1, 501),
        6 => (true, ack, 1400, 1401, 501),
        7 => (false, ack, 0, 501, 2801),
        8 => (false, ack, 300, 501, 2801),
        9 => (true, ack, 900, 2801, 801),
        10 => (false, ack.with(fin), 0, 801, 3701),
        11 => (true, ack.with(fin), 0, 3701, 802),
        _ => (false, ack, 0, 802, 3702),
    };
    let direction = if back {
        PacketFlags::HIGH_TO_LOW
    } else {
        PacketFlags(0)
    };
    PacketMeta {
        key: FlowKey {
            low: 6 << 48 | connection >> 20 & 0xffff_ffff_ffff,
            high: connection,
        },
        time,
        stream_time: time,
        number: number + 1,
        hash: mix(connection) as u32,
        wire_len: len + 54,
        ip_len: len + 40,
        payload_len: len,
        seq: Seq(seq),
        ack: Seq(acked),
        fingerprint: number as u32 | 1,
        window: 1000,
        tcp_flags: flags,
        kind: PacketKind::Tcp,
        protocol: 6,
        flags: direction,
        ..PacketMeta::default()
    }
}

fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 29).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 32
}

struct Count(u64);

impl RecordSink for Count {
    fn conn(&mut self, _: RecordKey, record: &ConnRecord) {
        black_box(record);
        self.0 += 1;
    }
    fn anomaly(&mut self, _: RecordKey, _: &AnomalyRecord) {}
    fn tunnel(&mut self, _: RecordKey, _: &TunnelRecord) {}
}
