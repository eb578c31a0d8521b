//! A world with one reassembler: segments go in, reports come out.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "test code, of which each file uses a part"
)]

use flowpin_config::SegmentOverlap;
use flowpin_packet::{
    FlowKey, FrameBytes, NetworkMap, PacketFlags, PacketKind, PacketMeta, Seq, TcpFlags,
};
use flowpin_reassembly::{
    Anomaly, Closed, Handshake, Reassembler, ReassemblyOptions, Span, StreamConsumer,
};
use flowpin_testkit::oracle::segments::{Told, tell_data, tell_gap};
use std::collections::BTreeMap;

pub const SYN: TcpFlags = TcpFlags::SYN;
pub const ACK: TcpFlags = TcpFlags::ACK;
pub const FIN: TcpFlags = TcpFlags::FIN.with(TcpFlags::ACK);
pub const RST: TcpFlags = TcpFlags::RST;
pub const SYN_ACK: TcpFlags = TcpFlags::SYN.with(TcpFlags::ACK);
pub const URG: TcpFlags = TcpFlags::URG.with(TcpFlags::ACK);

/// The reports to a consumer, by stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Log {
    pub streams: BTreeMap<(u32, bool), Vec<Told>>,
    pub closed: Vec<(u32, bool, Closed)>,
    pub anomalies: Vec<Anomaly>,
    pub handshakes: Vec<(bool, Handshake)>,
    pub urgent: Vec<(u64, u8)>,
    pub went_on: Vec<(bool, bool)>,
}

impl StreamConsumer for Log {
    fn data(&mut self, at: Span, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        tell_data(self.stream(at), at.offset, bytes);
    }
    fn gap(&mut self, at: Span, len: u64) {
        assert!(len > 0);
        tell_gap(self.stream(at), at.offset, len);
    }
    fn urgent(&mut self, at: Span, byte: u8) {
        self.urgent.push((at.offset, byte));
    }
    fn handshake(&mut self, at: Span, handshake: Handshake) {
        self.handshakes.push((at.to_server, handshake));
    }
    fn closed(&mut self, at: Span, how: Closed) {
        self.closed.push((at.handle, at.to_server, how));
    }
    fn goes_on(&mut self, at: Span, told: bool) {
        self.went_on.push((at.to_server, told));
    }
    fn anomaly(&mut self, _: Span, what: Anomaly) {
        self.anomalies.push(what);
    }
}

impl Log {
    fn stream(&mut self, at: Span) -> &mut Vec<Told> {
        self.streams.entry((at.handle, at.to_server)).or_default()
    }
}

/// A segment to send; for the other fields see the end of [`World::send`].
#[derive(Clone, Debug)]
pub struct Out<'a> {
    pub handle: u32,
    pub to_server: bool,
    pub flags: TcpFlags,
    pub seq: u32,
    pub ack: u32,
    pub window: u16,
    pub options: &'a [u8],
    pub urgent: u16,
    pub bytes: &'a [u8],
    /// Bytes claimed beyond `bytes`: the capture cut them off.
    pub snapped: u32,
    pub bad_checksum: bool,
    pub begins: bool,
    pub shard: u8,
}

impl Default for Out<'_> {
    fn default() -> Self {
        Self {
            handle: 3,
            to_server: true,
            flags: ACK,
            seq: 0,
            ack: 0,
            window: 65_535,
            options: &[],
            urgent: 0,
            bytes: &[],
            snapped: 0,
            bad_checksum: false,
            begins: false,
            shard: 0,
        }
    }
}

pub struct World {
    pub reassembler: Reassembler,
    pub log: Log,
    packets: u64,
}

pub fn options(policy: SegmentOverlap) -> ReassemblyOptions {
    ReassemblyOptions {
        policy: NetworkMap::new(policy, []),
        ..ReassemblyOptions::default()
    }
}

impl World {
    pub fn new(options: &ReassemblyOptions) -> Self {
        Self {
            reassembler: Reassembler::new(options, 256, 1 << 16).unwrap(),
            log: Log::default(),
            packets: 0,
        }
    }

    pub fn send(&mut self, out: &Out<'_>) {
        self.packets += 1;
        let (frame, meta) = frame(out, self.packets);
        let frames = FrameBytes {
            piece: &frame,
            extra: &[],
        };
        self.reassembler.prefetch(out.handle);
        let log = &mut self.log;
        self.reassembler
            .segment(&frames, &meta, out.handle, out.to_server, out.begins, log);
        self.check();
    }

    /// SYN and SYN-ACK without options: `client` and `server` are the numbers of the first bytes.
    pub fn handshake(&mut self, client: u32, server: u32, window: u16) {
        let (client, server) = (client.wrapping_sub(1), server.wrapping_sub(1));
        self.send(&Out {
            flags: SYN,
            seq: client,
            begins: true,
            ..Out::default()
        });
        self.send(&Out {
            to_server: false,
            flags: SYN_ACK,
            seq: server,
            ack: client.wrapping_add(1),
            window,
            ..Out::default()
        });
    }

    pub fn end(&mut self, handle: u32) {
        self.reassembler.end(handle, &mut self.log);
        self.check();
    }

    /// The reports about a stream of the default connection.
    pub fn told(&self, to_server: bool) -> &[Told] {
        self.log
            .streams
            .get(&(3, to_server))
            .map_or(&[], |told| told)
    }

    /// All bytes of a stream, gaps as dots.
    pub fn text(&self, to_server: bool) -> String {
        let mut text = String::new();
        for told in self.told(to_server) {
            match told {
                Told::Data(_, bytes) => text.push_str(&String::from_utf8_lossy(bytes)),
                Told::Gap(_, len) => text.push_str(&".".repeat(usize::try_from(*len).unwrap())),
            }
        }
        text
    }

    /// Bytes are conserved after every segment.
    pub fn check(&self) {
        let stats = self.reassembler.stats();
        assert_eq!(stats.received(), stats.accounted(), "{stats:#?}");
    }
}

/// An IPv4 header of which only addresses count, a TCP header, and the bytes.
pub fn frame(out: &Out<'_>, number: u64) -> (Vec<u8>, PacketMeta) {
    let mut frame = vec![0; 20];
    let (source, destination) = if out.to_server { (1, 2) } else { (2, 1) };
    frame[12..16].copy_from_slice(&[10, 0, 0, source]);
    frame[16..20].copy_from_slice(&[10, 0, 0, destination]);
    let mut options = out.options.to_vec();
    options.resize(options.len().next_multiple_of(4), 0);
    let header_len = 20 + options.len();
    let mut header = vec![0; 20];
    header[4..8].copy_from_slice(&out.seq.to_be_bytes());
    header[8..12].copy_from_slice(&out.ack.to_be_bytes());
    header[12] = u8::try_from(header_len / 4).unwrap() << 4;
    header[13] = out.flags.0;
    header[18..20].copy_from_slice(&out.urgent.to_be_bytes());
    frame.extend(header);
    frame.extend(options);
    frame.extend(out.bytes);
    let mut flags = PacketFlags(0);
    for (on, flag) in [
        (!out.to_server, PacketFlags::HIGH_TO_LOW),
        (out.snapped > 0, PacketFlags::SNAPPED),
        (out.bad_checksum, PacketFlags::BAD_CHECKSUM),
    ] {
        if on {
            flags = flags.with(flag);
        }
    }
    let len = u32::try_from(out.bytes.len()).unwrap();
    let meta = PacketMeta {
        key: FlowKey {
            low: 6 << 48,
            high: out.handle.into(),
        },
        number,
        hash: u32::from(out.shard) << 24,
        captured_len: u32::try_from(frame.len()).unwrap(),
        payload_len: len + out.snapped,
        seq: Seq(out.seq),
        ack: Seq(out.ack),
        window: out.window,
        l4_offset: 20,
        payload_offset: u16::try_from(20 + header_len).unwrap(),
        tcp_flags: out.flags,
        kind: PacketKind::Tcp,
        protocol: 6,
        flags,
        ..PacketMeta::default()
    };
    (frame, meta)
}

/// A world in which the first segment wins.
pub fn first_wins() -> World {
    World::new(&options(SegmentOverlap::First))
}

/// With a handshake done: the client's first byte is 100, the server's 500.
pub fn open() -> World {
    let mut world = first_wins();
    world.handshake(100, 500, 1000);
    world
}

/// A segment of the default connection.
pub fn client(seq: u32, bytes: &str) -> Out<'_> {
    Out {
        seq,
        ack: 500,
        bytes: bytes.as_bytes(),
        ..Out::default()
    }
}

/// An answer on it.
pub fn server(seq: u32, ack: u32, bytes: &str) -> Out<'_> {
    Out {
        to_server: false,
        seq,
        ack,
        window: 1000,
        bytes: bytes.as_bytes(),
        ..Out::default()
    }
}
