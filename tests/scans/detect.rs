//! A capture through dispatch, connection table and scan detection, without the engine: what
//! belongs to these three alone.

use flowpin_capture::{Options, Source};
use flowpin_dispatch::{Clock, DispatchOptions, Dispatched, Dispatcher};
use flowpin_flow::{Event, FlowObserver, FlowOptions, ShardSet, Sighting, Table};
use flowpin_packet::{Endpoints, FrameBytes, PacketKind, PacketMeta, Piece, Timestamp};
use flowpin_portscan::{Begin, Merger, Observer, Probe, Run, ScanOptions, Steps};
use flowpin_record::{
    AnomalyRecord, ConnRecord, EpisodeState, FloodKind, FloodRecord, RecordKey, RecordSink,
    ScanRecord, TunnelRecord,
};
use std::collections::HashMap;
use std::path::Path;

/// What was found, each scan and flood once, and in how many packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) scans: Vec<ScanRecord>,
    pub(crate) floods: Vec<FloodRecord>,
    pub(crate) packets: u64,
}

impl RecordSink for Found {
    fn conn(&mut self, _: RecordKey, _: &ConnRecord) {}
    fn anomaly(&mut self, _: RecordKey, _: &AnomalyRecord) {}
    fn tunnel(&mut self, _: RecordKey, _: &TunnelRecord) {}

    fn scan(&mut self, _: RecordKey, record: &ScanRecord) {
        if record.state == EpisodeState::Over {
            self.scans.push(*record);
        }
    }

    fn flood(&mut self, _: RecordKey, record: &FloodRecord) {
        if record.state == EpisodeState::Over {
            self.floods.push(*record);
        }
    }
}

impl Found {
    /// Kind, method or kind, in words: for tables.
    pub(crate) fn words(&self) -> String {
        let scans = self.scans.iter().map(|scan| {
            let (kind, method) = (scan.kind.name(), scan.method.name());
            format!("{kind} {method} {} hosts {} ports", scan.hosts, scan.ports)
        });
        let floods = self
            .floods
            .iter()
            .map(|flood| format!("{} flood {} sources", flood.kind.name(), flood.source_count));
        let mut words: Vec<_> = scans.chain(floods).collect();
        words.sort();
        words.join("; ")
    }
}

/// Detects in a capture; nothing if it cannot be read.
pub(crate) fn detect(path: &Path, options: &ScanOptions) -> Found {
    let mut found = Found::default();
    let Ok(bytes) = std::fs::read(path) else {
        return found;
    };
    let captures = vec![(path.to_owned(), bytes)];
    let Ok(mut source) = Source::from_memory(captures, &Options::default()) else {
        return found;
    };
    let mut dispatcher = Dispatcher::new(DispatchOptions::default());
    let flow = FlowOptions {
        memory_bytes: 256 << 20,
        ..FlowOptions::default()
    };
    let mut table = Table::new(&flow, ShardSet::ALL).unwrap();
    let mut clock = Clock::new(3_600_000_000_000);
    let mut watcher = Watcher::default();
    let mut merger = Merger::new(1, options.clone());
    let (mut piece, mut number, mut now) = (Piece::default(), 0, Timestamp(0));
    while let Ok(true) = source.fill(&mut piece) {
        let mut walk = source.walk(&piece);
        while let Some(frame) = walk.next_frame() {
            number += 1;
            now = clock.observe(frame.time);
            let mut meta = PacketMeta::default();
            let done = dispatcher.dispatch(&piece.bytes, &frame, number, now, &mut meta);
            if done != Dispatched::Packet {
                continue;
            }
            let frames = FrameBytes {
                piece: &piece.bytes,
                extra: &[],
            };
            watcher.endpoints = frames.endpoints(&meta);
            let payload = frames.frame(&meta).get(usize::from(meta.l4_offset) + 12);
            watcher.chunk = (meta.kind == PacketKind::Sctp)
                .then(|| payload.copied())
                .flatten();
            table.process(frames, &[meta], &mut Found::default(), &mut watcher);
        }
        table.tick(now, &mut Found::default(), &mut watcher);
        if let Some(summary) = watcher.observer.tick(now) {
            merger.add(0, summary);
            merger.decide(&mut found);
        }
    }
    merger.add(0, watcher.observer.finish());
    merger.finish(now.plus_nanos(1), &mut found);
    found.packets = number;
    found
}

/// Tells the observer what it wants to know of each packet.
#[derive(Default)]
struct Watcher {
    observer: Observer,
    endpoints: Endpoints,
    chunk: Option<u8>,
    /// Packets from the client and from the server, by handle.
    packets: HashMap<u32, [u32; 2]>,
}

impl FlowObserver for Watcher {
    fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, _: &mut S) {
        let (meta, handle) = (sighting.meta, sighting.handle);
        if sighting.event == Event::IcmpError {
            let steps = Steps::of_icmp_error(meta);
            return self.observer.saw(handle, meta.stream_time, steps);
        }
        if sighting.event == Event::New {
            self.packets.insert(handle, [0; 2]);
            self.begin(sighting);
        } else {
            let steps = Steps::of(meta, sighting.to_server, self.chunk);
            self.observer.saw(handle, meta.stream_time, steps);
        }
        let counts = self.packets.entry(handle).or_default();
        let side = usize::from(!sighting.to_server);
        counts[side] += 1;
        let (mine, theirs) = (counts[side], counts[side ^ 1]);
        if mine == 8 && side == 0 && theirs == 0 {
            self.observer.saw(handle, meta.stream_time, Steps::REPEATED);
        }
        if mine % Run::PACKETS == 0 {
            self.run(meta, mine, theirs);
        }
    }
}

impl Watcher {
    /// Addresses and ports of who sent a packet and who gets it.
    fn ends(&self, meta: &PacketMeta) -> [([u8; 16], u16); 2] {
        let (low, high) = meta.key.ports();
        let ends = [(self.endpoints.low, low), (self.endpoints.high, high)];
        let [low, high] = ends;
        if meta.high_to_low() {
            [high, low]
        } else {
            [low, high]
        }
    }

    fn begin(&mut self, sighting: &Sighting<'_>) {
        let meta = sighting.meta;
        let [source, target] = self.ends(meta);
        let mut probe = Probe::of(meta, self.chunk);
        if !sighting.to_server && !probe.is_stray() {
            probe = Probe::Other;
        }
        let port = match probe {
            Probe::Echo => 0,
            Probe::IpProtocol => u16::from(meta.protocol),
            _ => target.1,
        };
        self.observer.began(&Begin {
            source: source.0,
            target: target.0,
            time: meta.time,
            stream_time: meta.stream_time,
            number: meta.number,
            handle: sighting.handle,
            source_port: source.1,
            port,
            shard: meta.shard().0,
            probe,
            ipv6: meta.key.is_ipv6(),
        });
    }

    fn run(&mut self, meta: &PacketMeta, mine: u32, theirs: u32) {
        let Some(kind) = Run::kind_of(meta, mine.into(), theirs.into()) else {
            return;
        };
        let [source, target] = self.ends(meta);
        self.observer.packets(&Run {
            source: source.0,
            target: target.0,
            time: meta.time,
            stream_time: meta.stream_time,
            number: meta.number,
            port: if kind == FloodKind::Icmp { 0 } else { target.1 },
            shard: meta.shard().0,
            kind,
            ipv6: meta.key.is_ipv6(),
        });
    }
}
