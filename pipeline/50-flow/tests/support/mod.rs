//! Packets made by hand, and tables that process them.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use core::net::IpAddr;
use flowpin_flow::{FlowCounters, FlowObserver, FlowOptions, ShardSet, Table};
use flowpin_packet::{
    FlowKey, FrameBytes, PacketFlags, PacketKind, PacketMeta, SHARD_COUNT, Seq, Shard, TcpFlags,
    Timestamp,
};
use flowpin_record::{AnomalyRecord, ConnRecord, RecordKey, RecordSink, TunnelRecord};

pub const MS: u64 = 1_000_000;
pub const SEC: u64 = 1_000 * MS;
/// An hour past the epoch's first day: far from 0, so that earlier times exist.
pub const T0: u64 = 90_000 * SEC;

/// Address and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End(pub IpAddr, pub u16);

pub fn end(address: &str, port: u16) -> End {
    End(address.parse().unwrap(), port)
}

/// A packet to be made, with fields that may be set by hand.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub from: End,
    pub to: End,
    pub meta: PacketMeta,
    /// First byte after the SCTP header.
    pub chunk: u8,
    /// The sender of an ICMP error.
    pub router: Option<IpAddr>,
    /// IPv6: a value to use for the digest, to make it collide.
    pub digest: Option<u64>,
}

impl Packet {
    fn new(kind: PacketKind, protocol: u8, from: End, to: End, len: u32) -> Self {
        let meta = PacketMeta {
            kind,
            protocol,
            payload_len: len,
            ip_len: len + 40,
            wire_len: len + 54,
            ..PacketMeta::default()
        };
        Self {
            from,
            to,
            meta,
            chunk: 0,
            router: None,
            digest: None,
        }
    }

    /// `flags` by their first letters: `SFRPAUEC`.
    pub fn tcp(from: End, to: End, flags: &str, seq: u32, ack: u32, len: u32) -> Self {
        let mut packet = Self::new(PacketKind::Tcp, 6, from, to, len);
        packet.meta.tcp_flags = TcpFlags(flags.chars().fold(0, |bits, letter| {
            bits | 1 << "FSRPAUEC".find(letter).expect("a flag's letter")
        }));
        packet.meta.seq = Seq(seq);
        packet.meta.ack = Seq(ack);
        packet.meta.window = 500;
        packet
    }

    pub fn udp(from: End, to: End, len: u32) -> Self {
        Self::new(PacketKind::Udp, 17, from, to, len)
    }

    pub fn sctp(from: End, to: End, chunk: u8) -> Self {
        Self {
            chunk,
            ..Self::new(PacketKind::Sctp, 132, from, to, 20)
        }
    }

    pub fn other(protocol: u8, from: &str, to: &str) -> Self {
        Self::new(PacketKind::Other, protocol, end(from, 0), end(to, 0), 8)
    }

    /// `port`: the value that dispatch uses there, the identifier of a pair or the code of a
    /// one-way message. `subkind`: the pair's request type.
    pub fn icmp(from: &str, to: &str, kind: (u8, u8), subkind: u8, port: u16) -> Self {
        let (from, to) = (end(from, port), end(to, port));
        let protocol = if from.0.is_ipv6() { 58 } else { 1 };
        let mut packet = Self::new(PacketKind::Icmp, protocol, from, to, 56);
        packet.meta.tcp_flags = TcpFlags(kind.0);
        packet.meta.icmp_code = kind.1;
        packet.meta.key.low = u64::from(subkind & 0x7f) << 56;
        packet
    }

    /// An error about a packet like `quoted`, sent by `router`.
    pub fn icmp_error(router: &str, quoted: &Self, kind: (u8, u8)) -> Self {
        let mut packet = *quoted;
        packet.meta.kind = PacketKind::IcmpError;
        packet.meta.tcp_flags = TcpFlags(kind.0);
        packet.meta.icmp_code = kind.1;
        packet.router = Some(router.parse().unwrap());
        packet
    }

    pub fn flag(mut self, flag: PacketFlags) -> Self {
        self.meta.flags = self.meta.flags.with(flag);
        self
    }

    pub fn fingerprint(mut self, fingerprint: u32) -> Self {
        self.meta.fingerprint = fingerprint;
        self
    }

    pub fn window(mut self, window: u16) -> Self {
        self.meta.window = window;
        self
    }
}

/// Packets in input order, with their frames and stream times.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub bytes: Vec<u8>,
    pub metas: Vec<PacketMeta>,
    pub secret: u64,
    pub stream_time: Timestamp,
}

impl Trace {
    /// A packet captured at `time`.
    pub fn push(&mut self, time: u64, packet: Packet) {
        let Packet {
            from,
            to,
            mut meta,
            chunk,
            ..
        } = packet;
        meta.time = Timestamp(time);
        self.stream_time = self.stream_time.max(meta.time);
        meta.stream_time = self.stream_time;
        meta.number = self.metas.len() as u64 + 1;
        let subkind = meta.key.low;
        let protocol = meta.protocol;
        let (key, turned) = match (from.0, to.0) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                let a = u64::from(u32::from(a)) << 16 | u64::from(from.1);
                let b = u64::from(u32::from(b)) << 16 | u64::from(to.1);
                let low = u64::from(protocol) << 48 | a.min(b);
                (
                    FlowKey {
                        low,
                        high: a.max(b),
                    },
                    a > b,
                )
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                let (a, b) = ((u128::from(a), from.1), (u128::from(b), to.1));
                let ports = u64::from(a.max(b).1) << 16 | u64::from(a.min(b).1);
                let low = FlowKey::IPV6_BIT | u64::from(protocol) << 48 | ports;
                let digest = mix(a.0.min(b.0) as u64 ^ mix((a.0.max(b.0) >> 3) as u64));
                (
                    FlowKey {
                        low,
                        high: packet.digest.unwrap_or(digest),
                    },
                    a > b,
                )
            }
            _ => panic!("two families in one packet"),
        };
        meta.key = FlowKey {
            low: key.low | subkind,
            high: key.high,
        };
        meta.flags = meta.flags.without(PacketFlags::HIGH_TO_LOW);
        if turned {
            meta.flags = meta.flags.with(PacketFlags::HIGH_TO_LOW);
        }
        if from.0.is_ipv6() {
            meta.flags = meta.flags.with(PacketFlags::IPV6);
        }
        let shard = mix(meta.key.low ^ mix(meta.key.high)) >> 56;
        let place = mix(meta.key.low ^ mix(meta.key.high ^ self.secret)) >> 40;
        meta.hash = (shard << 24 | place) as u32;
        if meta.kind == PacketKind::IcmpError {
            meta.protocol = if from.0.is_ipv6() { 58 } else { 1 };
        }
        self.frame(&mut meta, from.0, to.0, chunk, packet.router);
        self.metas.push(meta);
    }

    /// A packet captured `leap` later than stream time follows.
    pub fn push_leaping(&mut self, time: u64, leap: u64, packet: Packet) {
        self.push(time, packet);
        if let Some(meta) = self.metas.last_mut() {
            meta.time = meta.time.plus_nanos(leap);
        }
    }

    /// Bytes enough for addresses and the first SCTP chunk.
    fn frame(
        &mut self,
        meta: &mut PacketMeta,
        from: IpAddr,
        to: IpAddr,
        chunk: u8,
        router: Option<IpAddr>,
    ) {
        let start = self.bytes.len();
        meta.frame_start = start as u32;
        self.bytes.extend([0xee; 14]);
        if let Some(router) = router {
            self.header(router, from, if from.is_ipv6() { 58 } else { 1 });
            self.bytes.extend([0; 8]);
        }
        meta.l3_offset = (self.bytes.len() - start) as u16;
        self.header(from, to, meta.key.protocol());
        meta.l4_offset = (self.bytes.len() - start) as u16;
        self.bytes.extend([0; 12]);
        self.bytes.push(chunk);
        meta.captured_len = (self.bytes.len() - start) as u32;
        meta.payload_offset = meta.l4_offset;
    }

    fn header(&mut self, from: IpAddr, to: IpAddr, protocol: u8) {
        let mut header = match from {
            IpAddr::V4(_) => vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0],
            IpAddr::V6(_) => vec![0x60, 0, 0, 0, 0, 0, protocol, 64],
        };
        for address in [from, to] {
            match address {
                IpAddr::V4(address) => header.extend(address.octets()),
                IpAddr::V6(address) => header.extend(address.octets()),
            }
        }
        self.bytes.extend(header);
    }

    pub fn frames(&self) -> FrameBytes<'_> {
        FrameBytes {
            piece: &self.bytes,
            extra: &[],
        }
    }

    pub fn end(&self) -> Timestamp {
        self.stream_time
    }
}

pub fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 29).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 32
}

/// Collects connection records.
#[derive(Clone, Debug, Default)]
pub struct Records(pub Vec<(RecordKey, ConnRecord)>);

impl RecordSink for Records {
    fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
        self.0.push((key, *record));
    }
    fn anomaly(&mut self, _: RecordKey, _: &AnomalyRecord) {}
    fn tunnel(&mut self, _: RecordKey, _: &TunnelRecord) {}
}

/// How to run a trace.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub options: FlowOptions,
    pub tables: usize,
    pub batch: usize,
    /// Packets between ticks; 0: only at the end.
    pub tick_every: usize,
    /// One in this many ticks is exact; 0: none.
    pub exact_every: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            options: FlowOptions::default(),
            tables: 1,
            batch: 32,
            tick_every: 0,
            exact_every: 0,
        }
    }
}

/// All records in the order of their keys, and the counters.
pub fn run(trace: &Trace, plan: &Plan) -> (Vec<(RecordKey, ConnRecord)>, FlowCounters) {
    run_observed(trace, plan, &mut ())
}

pub fn run_observed<O: FlowObserver>(
    trace: &Trace,
    plan: &Plan,
    observer: &mut O,
) -> (Vec<(RecordKey, ConnRecord)>, FlowCounters) {
    let owner = |shard: usize| (shard * 7 + 3) % SHARD_COUNT % plan.tables;
    let mut tables: Vec<Table> = (0..plan.tables)
        .map(|table| {
            let shards: ShardSet = (0..=255)
                .filter(|&s| owner(usize::from(s)) == table)
                .map(Shard)
                .collect();
            Table::new(&plan.options, shards).unwrap()
        })
        .collect();
    let mut records = Records::default();
    let mut watermark = Timestamp(0);
    let step = if plan.tick_every == 0 {
        trace.metas.len().max(1)
    } else {
        plan.tick_every
    };
    for (count, piece) in trace.metas.chunks(step).enumerate() {
        for (nth, table) in tables.iter_mut().enumerate() {
            let mine: Vec<PacketMeta> = piece
                .iter()
                .filter(|meta| owner(usize::from(meta.shard().0)) == nth)
                .copied()
                .collect();
            let before = records.0.len();
            for batch in mine.chunks(plan.batch) {
                table.prefetch(batch);
                table.process(trace.frames(), batch, &mut records, observer);
            }
            let now = piece.last().unwrap().stream_time;
            if plan.exact_every > 0 && (count + nth) % plan.exact_every == 0 {
                table.tick_exactly(now, &mut records, observer);
            } else {
                let mark = table.tick(now, &mut records, observer);
                assert!(mark < now && now.0 - mark.0 <= flowpin_flow::GRANULE_NS);
            }
            for (key, _) in &records.0[before..] {
                assert!(key.time > watermark, "a record came after its watermark");
            }
        }
        let now = piece.last().unwrap().stream_time;
        watermark = Timestamp((now.0 - 1) / flowpin_flow::GRANULE_NS * flowpin_flow::GRANULE_NS);
    }
    let mut counters = FlowCounters::default();
    for table in &mut tables {
        table.tick(trace.end(), &mut records, observer);
        table.finish(&mut records, observer);
        assert_eq!(table.live(), 0);
        counters.add(table.counters());
    }
    records.0.sort_by_key(|&(key, _)| key);
    for pair in records.0.windows(2) {
        assert!(pair[0].0 < pair[1].0, "keys are unique: {:?}", pair[0].0);
    }
    (records.0, counters)
}

/// Runs a trace with defaults and expects one record.
pub fn only(trace: &Trace) -> (RecordKey, ConnRecord) {
    let (records, _) = run(trace, &Plan::default());
    assert_eq!(records.len(), 1, "{records:#?}");
    records[0]
}

pub fn all(trace: &Trace) -> Vec<ConnRecord> {
    run(trace, &Plan::default())
        .0
        .into_iter()
        .map(|(_, record)| record)
        .collect()
}

/// A TCP connection described step by step; it tracks the numbers of both sides.
pub struct Talk {
    pub trace: Trace,
    pub client: End,
    pub server: End,
    pub seq: [u32; 2],
    pub time: u64,
}

impl Talk {
    pub fn new() -> Self {
        Self::with_isn(1_000, 5_000)
    }

    pub fn with_isn(client: u32, server: u32) -> Self {
        Self {
            trace: Trace::default(),
            client: end("10.0.0.1", 40_000),
            server: end("10.0.0.2", 80),
            seq: [client, server],
            time: T0,
        }
    }

    /// Steps as words: `>` client, `<` server, then flags, then the length: `>S`, `<SA`, `>A`,
    /// `>PA100`. A word with `!` is sent again with the side's previous numbers: it does not
    /// advance the sequence. `+N` waits N milliseconds; each step takes 1 ms.
    pub fn steps(&mut self, steps: &str) -> &mut Self {
        for word in steps.split_whitespace() {
            if let Some(wait) = word.strip_prefix('+') {
                self.time += wait.parse::<u64>().unwrap() * MS;
                continue;
            }
            let side = usize::from(word.starts_with('<'));
            let rest = &word[1..];
            let flags: String = rest.chars().filter(char::is_ascii_uppercase).collect();
            let len: String = rest.chars().filter(char::is_ascii_digit).collect();
            let len = len.parse().unwrap_or(0);
            self.send(side, &flags, len, !rest.contains('!'));
        }
        self
    }

    pub fn send(&mut self, side: usize, flags: &str, len: u32, moves: bool) -> &mut Self {
        let (from, to) = if side == 0 {
            (self.client, self.server)
        } else {
            (self.server, self.client)
        };
        let ack = if flags.contains('A') {
            self.seq[side ^ 1]
        } else {
            0
        };
        let packet = Packet::tcp(from, to, flags, self.seq[side], ack, len);
        self.push(packet);
        if moves {
            let control = u32::from(flags.contains('S')) + u32::from(flags.contains('F'));
            self.seq[side] = self.seq[side].wrapping_add(len).wrapping_add(control);
        }
        self
    }

    pub fn push(&mut self, packet: Packet) -> &mut Self {
        self.trace.push(self.time, packet);
        self.time += MS;
        self
    }

    pub fn record(&self) -> ConnRecord {
        only(&self.trace).1
    }

    /// `conn_state` and history.
    pub fn summary(&self) -> String {
        let record = self.record();
        format!("{} {}", record.conn_state.name(), record.history.as_str())
    }
}

/// The result of a conversation.
pub fn summary(steps: &str) -> String {
    let mut talk = Talk::new();
    talk.steps(steps);
    talk.summary()
}
