//! Cost of reassembly alone: `reassembly_bench [WHAT] [CONNECTIONS] [ROUNDS]`.
//!
//! - `order`: segments of 1,400 bytes in order, one way, every third one acknowledged
//! - `stamped`: the same with time stamps
//! - `acks`: acknowledgements without data
//! - `swapped`: segments exchanged in pairs
//! - `behind`: all segments after a hole that closes every 32 segments
//! - `short`: whole connections of 13 packets (handshake, data both ways, close)
//! - `none`: the loop that makes the segments, to subtract
//!
//! With `data` appended to WHAT (`order+data`) a consumer adds up the lengths of the bytes;
//! otherwise nothing consumes them. For the cost of a segment, run it under `perf stat -e
//! instructions:u,cycles:u` with two numbers of rounds, and divide the difference by that of the
//! segments.

use flowpin_packet::{FlowKey, FrameBytes, PacketFlags, PacketKind, PacketMeta, Seq, TcpFlags};
use flowpin_reassembly::{Reassembler, ReassemblyOptions, Span, StreamConsumer};
use std::hint::black_box;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "order".to_owned());
    let mut number = |default| {
        let text = arguments.next();
        text.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (connections, rounds): (u32, u32) = (number(1000), number(1000));
    let mut bench = Bench::new(connections)?;
    let (what, data) = match what.strip_suffix("+data") {
        Some(what) => (what, true),
        None => (what.as_str(), false),
    };
    let kind = match what {
        "order" => Kind::Order,
        "stamped" => Kind::Stamped,
        "acks" => Kind::Acks,
        "swapped" => Kind::Swapped,
        "behind" => Kind::Behind,
        "short" => Kind::Short,
        _ => Kind::None,
    };
    if kind != Kind::Short {
        bench.open(kind == Kind::Stamped);
    }
    let mut sum = Sum(0);
    for round in 0..rounds {
        if data {
            bench.round(kind, round, &mut sum);
        } else {
            bench.round(kind, round, &mut ());
        }
    }
    let stats = bench.reassembler.stats();
    println!(
        "{} segments, {} bytes, {} delivered, {} to the consumer, {} gaps, {} steps",
        bench.segments,
        stats.received(),
        stats.in_order + stats.delivered,
        sum.0,
        stats.gaps,
        stats.steps
    );
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Order,
    Stamped,
    Acks,
    Swapped,
    Behind,
    Short,
    None,
}

struct Bench {
    reassembler: Reassembler,
    connections: u32,
    piece: Vec<u8>,
    segments: u64,
}

const LEN: u32 = 1400;
const HEADERS: u32 = 20 + 32;

impl Bench {
    fn new(connections: u32) -> std::io::Result<Self> {
        let options = ReassemblyOptions {
            memory_bytes: 4 << 30,
            ..ReassemblyOptions::default()
        };
        let mut piece = vec![0; 64 * 1500];
        for frame in piece.chunks_mut(1500) {
            frame[32] = 5 << 4;
            frame[40..44].copy_from_slice(&[1, 1, 8, 10]);
        }
        Ok(Self {
            reassembler: Reassembler::new(&options, 256, connections)?,
            connections,
            piece,
            segments: 0,
        })
    }

    fn open(&mut self, stamped: bool) {
        if stamped {
            // The headers are eight words long, with the time stamp option in the last three.
            self.piece
                .chunks_mut(1500)
                .for_each(|frame| frame[32] = 8 << 4);
        }
        let syn = TcpFlags::SYN;
        for handle in 0..self.connections {
            for (to_server, flags, seq, ack) in [
                (true, syn, 0, 0),
                (false, syn.with(TcpFlags::ACK), 0, 1),
                (true, TcpFlags::ACK, 1, 1),
            ] {
                let mut meta = meta(handle, to_server, flags, seq, ack, 0);
                if !stamped {
                    meta.payload_offset = 40;
                }
                self.send(&meta, handle, to_server, flags.0 == 2, &mut ());
            }
        }
        self.segments = 0;
    }

    #[inline(never)]
    fn round<C: StreamConsumer>(&mut self, kind: Kind, round: u32, consumer: &mut C) {
        for handle in 0..self.connections {
            let at = |nth: u32| 1 + nth.wrapping_mul(LEN);
            let (mut seq, mut len) = (at(round), LEN);
            match kind {
                Kind::Order | Kind::Stamped | Kind::None => {}
                Kind::Acks => (seq, len) = (1, 0),
                Kind::Swapped => seq = at(round ^ 1),
                // The first of each 32 comes last.
                Kind::Behind => seq = at((round & !31) | ((round + 1) & 31)),
                Kind::Short => {
                    self.connection(handle, consumer);
                    continue;
                }
            }
            let mut meta = meta(handle, true, TcpFlags::ACK, seq, 1, len);
            if kind != Kind::Stamped {
                meta.payload_offset = 40;
            }
            if kind == Kind::None {
                black_box(&meta);
                self.segments += 1;
                continue;
            }
            self.send(&meta, handle, true, false, consumer);
            let acknowledges = match kind {
                Kind::Swapped => round % 2 == 1,
                Kind::Behind => round % 32 == 31,
                Kind::Acks => false,
                _ => round % 3 == 2,
            };
            if acknowledges {
                let highest = at(round + 1);
                let mut back = self::meta(handle, false, TcpFlags::ACK, 1, highest, 0);
                if kind != Kind::Stamped {
                    back.payload_offset = 40;
                }
                self.send(&back, handle, false, false, consumer);
            }
        }
    }

    /// A whole short connection.
    fn connection<C: StreamConsumer>(&mut self, handle: u32, consumer: &mut C) {
        let (syn, ack, fin) = (TcpFlags::SYN, TcpFlags::ACK, TcpFlags::FIN);
        let steps = [
            (true, syn, 0, 0, 0),
            (false, syn.with(ack), 0, 1, 0),
            (true, ack, 1, 1, 0),
            (true, ack, 1, 1, 500),
            (false, ack, 1, 501, 0),
            (false, ack, 1, 501, 1400),
            (false, ack, 1401, 501, 1400),
            (true, ack, 501, 2801, 0),
            (true, ack, 501, 2801, 300),
            (false, ack, 2801, 801, 900),
            (true, ack.with(fin), 801, 3701, 0),
            (false, ack.with(fin), 3701, 802, 0),
            (true, ack, 802, 3702, 0),
        ];
        for (to_server, flags, seq, number, len) in steps {
            let mut meta = meta(handle, to_server, flags, seq, number, len);
            meta.payload_offset = 40;
            self.send(&meta, handle, to_server, flags.0 == 2, consumer);
        }
        self.reassembler.end(handle, consumer);
    }

    #[inline(never)]
    fn send<C: StreamConsumer>(
        &mut self,
        meta: &PacketMeta,
        handle: u32,
        to_server: bool,
        begins: bool,
        consumer: &mut C,
    ) {
        self.segments += 1;
        let frames = FrameBytes {
            piece: &self.piece,
            extra: &[],
        };
        self.reassembler
            .segment(&frames, meta, handle, to_server, begins, consumer);
    }
}

fn meta(
    handle: u32,
    to_server: bool,
    flags: TcpFlags,
    seq: u32,
    ack: u32,
    payload_len: u32,
) -> PacketMeta {
    PacketMeta {
        key: FlowKey {
            low: 6 << 48,
            high: handle.into(),
        },
        hash: handle << 24,
        frame_start: (handle & 63) * 1500,
        captured_len: HEADERS + payload_len,
        payload_len,
        seq: Seq(seq),
        ack: Seq(ack),
        window: 65_535,
        l4_offset: 20,
        payload_offset: 52,
        tcp_flags: flags,
        kind: PacketKind::Tcp,
        protocol: 6,
        flags: PacketFlags(if to_server { 0 } else { 2 }),
        ..PacketMeta::default()
    }
}

struct Sum(u64);

impl StreamConsumer for Sum {
    fn data(&mut self, _: Span, bytes: &[u8]) {
        self.0 += bytes.len() as u64;
    }
}
