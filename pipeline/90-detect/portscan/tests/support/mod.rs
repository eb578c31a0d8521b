//! Events made by hand, and observers run over them.
#![allow(dead_code, reason = "each test program uses its own part")]

use flowpin_counters::Losses;
use flowpin_packet::Timestamp;
use flowpin_portscan::{Begin, Merger, Observer, Probe, Run, ScanOptions, Steps};
use flowpin_record::{
    AnomalyRecord, ConnRecord, EpisodeState, FloodKind, FloodRecord, RecordKey, RecordSink,
    ScanRecord, TunnelRecord,
};
use std::collections::HashMap;

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SEC: u64 = 1_000 * MS;
pub(crate) const T0: u64 = 1_700_000_000 * SEC;

/// A connection, by what its first packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Conn {
    pub(crate) source: u32,
    pub(crate) target: u32,
    pub(crate) source_port: u16,
    pub(crate) port: u16,
    pub(crate) probe: Probe,
}

impl Conn {
    pub(crate) fn new(source: u32, target: u32, port: u16, probe: Probe) -> Self {
        let source_port = 50_000;
        Self {
            source,
            target,
            source_port,
            port,
            probe,
        }
    }

    pub(crate) fn at_port(self, source_port: u16) -> Self {
        Self {
            source_port,
            ..self
        }
    }

    fn shard(&self) -> u8 {
        let ports = u64::from(self.source_port) << 16 | u64::from(self.port);
        let hosts = u64::from(self.source) << 32 | u64::from(self.target);
        let mut random = Random(hosts ^ ports.rotate_left(20) ^ (self.probe as u64) << 60);
        random.next() as u8
    }
}

/// What happens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Begins,
    Does(Steps),
    Runs(FloodKind),
}

/// What happens when on which connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) time: u64,
    pub(crate) conn: Conn,
    pub(crate) what: What,
}

/// A list of events that is put in order at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events(pub(crate) Vec<Event>);

impl Events {
    pub(crate) fn begin(&mut self, time: u64, conn: Conn) {
        let what = What::Begins;
        self.0.push(Event { time, conn, what });
    }

    /// It begins, and something happens a millisecond later.
    pub(crate) fn with(&mut self, time: u64, conn: Conn, steps: Steps) {
        self.begin(time, conn);
        let (time, what) = (time + MS, What::Does(steps));
        self.0.push(Event { time, conn, what });
    }

    pub(crate) fn run(&mut self, time: u64, conn: Conn, kind: FloodKind) {
        let what = What::Runs(kind);
        self.0.push(Event { time, conn, what });
    }

    /// The events in order of time.
    pub(crate) fn sorted(mut self) -> Vec<Event> {
        self.0.sort_by_key(|event| event.time);
        self.0
    }
}

/// The records, in the order in which they were decided.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Records {
    pub(crate) scans: Vec<(RecordKey, ScanRecord)>,
    pub(crate) floods: Vec<(RecordKey, FloodRecord)>,
}

impl RecordSink for Records {
    fn conn(&mut self, _: RecordKey, _: &ConnRecord) {}
    fn anomaly(&mut self, _: RecordKey, _: &AnomalyRecord) {}
    fn tunnel(&mut self, _: RecordKey, _: &TunnelRecord) {}

    fn scan(&mut self, key: RecordKey, record: &ScanRecord) {
        self.scans.push((key, *record));
    }

    fn flood(&mut self, key: RecordKey, record: &FloodRecord) {
        self.floods.push((key, *record));
    }
}

impl Records {
    /// Each scan once, as it stood when it was over.
    pub(crate) fn scans(&self) -> Vec<ScanRecord> {
        let over = |record: &&(RecordKey, ScanRecord)| record.1.state == EpisodeState::Over;
        self.scans
            .iter()
            .filter(over)
            .map(|(_, record)| *record)
            .collect()
    }

    pub(crate) fn floods(&self) -> Vec<FloodRecord> {
        let over = |record: &&(RecordKey, FloodRecord)| record.1.state == EpisodeState::Over;
        self.floods
            .iter()
            .filter(over)
            .map(|(_, record)| *record)
            .collect()
    }

    /// The only scan, and no flood.
    pub(crate) fn only_scan(&self) -> ScanRecord {
        let scans = self.scans();
        assert_eq!(scans.len(), 1, "{self:#?}");
        assert!(self.floods.is_empty(), "{self:#?}");
        scans[0]
    }

    pub(crate) fn assert_quiet(&self) {
        assert!(self.scans.is_empty() && self.floods.is_empty(), "{self:#?}");
    }
}

/// A small generator of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// Who owns which shards, and when ticks come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) workers: usize,
    /// Shards go to workers by this.
    pub(crate) seed: u64,
    /// A tick after about so many events.
    pub(crate) tick_every: u64,
}

pub(crate) const ALONE: Plan = Plan {
    workers: 1,
    seed: 0,
    tick_every: 100,
};

/// Observers and merger over some events.
pub(crate) struct Pipeline {
    plan: Plan,
    random: Random,
    owners: Vec<usize>,
    observers: Vec<Observer>,
    merger: Merger,
    handles: HashMap<Conn, u32>,
    next_handles: Vec<u32>,
    number: u64,
    pub(crate) records: Records,
    pub(crate) held_max: usize,
}

impl Pipeline {
    pub(crate) fn new(plan: Plan, options: &ScanOptions) -> Self {
        let mut random = Random(plan.seed);
        let owner = |_| random.below(plan.workers as u64) as usize;
        Self {
            plan,
            owners: (0..256).map(owner).collect(),
            random,
            observers: (0..plan.workers)
                .map(|_| Observer::new(options.caps))
                .collect(),
            merger: Merger::new(plan.workers, options.clone()),
            handles: HashMap::new(),
            next_handles: vec![0; plan.workers],
            number: 0,
            records: Records::default(),
            held_max: 0,
        }
    }

    pub(crate) fn put(&mut self, event: &Event) {
        self.number += 1;
        let shard = event.conn.shard();
        let worker = self.owners[usize::from(shard)];
        let next = &mut self.next_handles[worker];
        let observer = &mut self.observers[worker];
        let time = Timestamp(event.time);
        let (source, target) = (address(event.conn.source), address(event.conn.target));
        match event.what {
            What::Begins => {
                *next += 1;
                self.handles.insert(event.conn, *next);
                observer.began(&Begin {
                    source,
                    target,
                    time,
                    stream_time: time,
                    number: self.number,
                    handle: *next,
                    source_port: event.conn.source_port,
                    port: event.conn.port,
                    shard,
                    probe: event.conn.probe,
                    ipv6: false,
                });
            }
            What::Does(steps) => {
                if let Some(&handle) = self.handles.get(&event.conn) {
                    observer.saw(handle, time, steps);
                }
            }
            What::Runs(kind) => observer.packets(&Run {
                source,
                target,
                time,
                stream_time: time,
                number: self.number,
                port: event.conn.port,
                shard,
                kind,
                ipv6: false,
            }),
        }
        if self.random.below(self.plan.tick_every) == 0 {
            self.tick(event.time);
        }
    }

    /// A connection that is never heard of again: its handle is not kept.
    pub(crate) fn put_and_forget(&mut self, event: &Event) {
        self.put(event);
        self.handles.clear();
    }

    pub(crate) fn tick(&mut self, time: u64) {
        for worker in 0..self.plan.workers {
            self.held_max = self.held_max.max(self.observers[worker].held());
            if let Some(summary) = self.observers[worker].tick(Timestamp(time)) {
                self.merger.add(worker, summary);
            }
        }
        self.merger.decide(&mut self.records);
    }

    pub(crate) fn finish(self, end: u64) -> Records {
        self.finish_with_losses(end).0
    }

    pub(crate) fn finish_with_losses(mut self, end: u64) -> (Records, Losses) {
        for worker in 0..self.plan.workers {
            let summary = self.observers[worker].finish();
            self.merger.add(worker, summary);
        }
        self.merger.finish(Timestamp(end), &mut self.records);
        (self.records, *self.merger.losses())
    }
}

fn address(number: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// The records of events that are in order.
pub(crate) fn run(events: &[Event], plan: Plan, options: &ScanOptions) -> Records {
    let mut pipeline = Pipeline::new(plan, options);
    for event in events {
        pipeline.put(event);
    }
    let end = events.last().map_or(T0, |event| event.time + 1);
    pipeline.finish(end)
}

/// The records of events, by one worker with the defaults.
pub(crate) fn records(events: Events) -> Records {
    run(&events.sorted(), ALONE, &ScanOptions::default())
}

/// 10.0.a.b
pub(crate) const fn host(number: u32) -> u32 {
    10 << 24 | number
}
