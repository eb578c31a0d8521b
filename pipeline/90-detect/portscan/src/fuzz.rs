//! Any events, in any order and at any times, through observers and merger.

use crate::event::{Begin, Probe, Run, Steps};
use crate::{Merger, Observer, ScanCaps, ScanOptions};
use flowpin_packet::Timestamp;
use flowpin_record::{
    AnomalyRecord, ConnRecord, FloodKind, FloodRecord, RecordKey, RecordSink, ScanRecord,
    TunnelRecord,
};

/// Reads events of four bytes from `data`; checks that records come in order and that what is
/// held stays within the caps.
pub fn fuzz_portscan(data: &[u8]) {
    let mut observers = [
        Observer::new(ScanCaps::default()),
        Observer::new(ScanCaps::default()),
    ];
    let options = ScanOptions {
        hosts_min: 3,
        ports_min: 3,
        protocols_min: 2,
        syn_rate: 2,
        icmp_rate: 2,
        udp_rate: 2,
        window_ns: 10_000_000_000,
        long_window_ns: 40_000_000_000,
        failures_min: 3,
        targets_min: 5,
        sensitive: data.first().is_some_and(|first| first & 1 == 1),
        ..ScanOptions::default()
    };
    let mut merger = Merger::new(observers.len(), options);
    let mut check = Check::default();
    let mut time = 1_000_000_000_000;
    for (number, event) in (1..).zip(data.chunks_exact(4)) {
        let &[what, who, whom, detail] = event else {
            continue;
        };
        time += [0, 1_000, 50_000_000, 3_000_000_000][usize::from(what >> 6)];
        let stream_time = Timestamp(time);
        let worker = usize::from(whom & 1);
        let observer = &mut observers[worker];
        let repetitions = if detail & 0xf0 == 0xf0 { 3000 } else { 1 };
        for repetition in 0..repetitions {
            let event = Event {
                what,
                who,
                whom,
                detail,
                number: number << 12 | repetition,
                stream_time,
            };
            event.tell(observer);
        }
        assert!(
            observer.held() < 3 * 256 * (512 + 1024),
            "the log grew past its caps"
        );
        if what & 0x38 == 0x38 {
            for (worker, observer) in observers.iter_mut().enumerate() {
                if let Some(summary) = observer.tick(stream_time) {
                    merger.add(worker, summary);
                }
            }
            merger.decide(&mut check);
            check.below = merger.watermark().min(stream_time);
        }
    }
    for (worker, observer) in observers.iter_mut().enumerate() {
        merger.add(worker, observer.finish());
    }
    merger.finish(Timestamp(time + 1), &mut check);
    assert!(merger.sources_held() <= 1 << 16, "sources past their cap");
    assert!(merger.targets_held() <= 1 << 20, "targets past their cap");
}

struct Event {
    what: u8,
    who: u8,
    whom: u8,
    detail: u8,
    number: u64,
    stream_time: Timestamp,
}

impl Event {
    fn tell(&self, observer: &mut Observer) {
        let (mut source, mut target) = ([10; 16], [20; 16]);
        source[3] = self.who;
        target[3] = self.whom;
        let low = self.number.to_le_bytes();
        let spread = u16::from_le_bytes([low[0], low[1]]);
        let shard = self.whom.wrapping_mul(3) ^ (self.detail & 0x0f);
        let handle = u32::from(spread & 0x3ff);
        match self.what & 7 {
            0..=3 => observer.began(&Begin {
                source,
                target,
                time: self.stream_time,
                stream_time: self.stream_time,
                number: self.number,
                handle,
                source_port: 50_000,
                port: u16::from(self.detail) ^ (spread & 0xff0),
                shard,
                probe: PROBES[usize::from(self.who) % PROBES.len()],
                ipv6: self.who & 1 == 1,
            }),
            4..=6 => {
                let steps = Steps(u16::from_le_bytes([self.detail, self.who]));
                observer.saw(handle, self.stream_time, steps);
            }
            _ => observer.packets(&Run {
                source,
                target,
                time: self.stream_time,
                stream_time: self.stream_time,
                number: self.number,
                port: spread,
                shard,
                kind: FloodKind::ALL[usize::from(self.who) % FloodKind::COUNT],
                ipv6: false,
            }),
        }
    }
}

const PROBES: [Probe; 12] = [
    Probe::Syn,
    Probe::Fin,
    Probe::Null,
    Probe::Xmas,
    Probe::Maimon,
    Probe::Ack,
    Probe::Udp,
    Probe::SctpInit,
    Probe::SctpCookieEcho,
    Probe::IpProtocol,
    Probe::Echo,
    Probe::Other,
];

/// Records come in order, and none behind the watermark.
#[derive(Default)]
struct Check {
    below: Timestamp,
}

impl Check {
    fn key(&self, key: RecordKey) {
        assert!(key.time > self.below, "a record behind the watermark");
    }
}

impl RecordSink for Check {
    fn conn(&mut self, _: RecordKey, _: &ConnRecord) {}
    fn anomaly(&mut self, _: RecordKey, _: &AnomalyRecord) {}
    fn tunnel(&mut self, _: RecordKey, _: &TunnelRecord) {}

    fn scan(&mut self, key: RecordKey, record: &ScanRecord) {
        self.key(key);
        assert!(record.attempts >= record.targets || record.estimated);
        assert!(record.first <= record.last && record.hosts <= record.targets);
    }

    fn flood(&mut self, key: RecordKey, record: &FloodRecord) {
        self.key(key);
        assert!(record.packets >= record.source_count && record.first <= record.last);
    }
}
