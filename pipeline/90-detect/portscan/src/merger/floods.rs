//! Who is sent more than anybody asks for.

use super::targets::{Meaning, Outcome};
use super::{FLOOD_ORDINAL, Host, Now, intervals, uid};
use crate::INTERVAL_NS;
use crate::event::Steps;
use crate::filter::REGISTERS;
use crate::hash::{Map, Set};
use crate::options::ScanOptions;
use crate::sketch::{Distinct, hash_address};
use crate::summary::{Attempt, Interval};
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Timestamp;
use flowpin_record::{EpisodeState, FloodKind, FloodRecord, RecordKey, RecordSink, Samples};
use std::collections::{BTreeMap, HashSet};

/// Who is flooded with what.
type Victim = (FloodKind, Host);

/// All floods that go on.
#[derive(Debug, Default)]
pub(super) struct Floods {
    map: BTreeMap<Victim, Flood>,
}

#[derive(Debug)]
struct Flood {
    first: (u64, Timestamp),
    last: Timestamp,
    last_interval: u64,
    told: u64,
    told_packets: u64,
    packets: u64,
    peak: u64,
    port: Option<u16>,
    sources: Senders,
    samples: Vec<Host>,
    estimated: bool,
}

/// Source addresses: exactly up to a number, then about.
#[derive(Debug)]
enum Senders {
    Exact(Set<Host>),
    About(Distinct<REGISTERS>),
}

/// Packets to one victim in an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// Logged, and part of a flood if there is one.
    packets: u64,
    /// Logged at all: attempts, not runs.
    attempts: u64,
    /// Of them, those that are part.
    parts: u64,
}

const SENDERS_EXACT_MAX: usize = 1024;

/// Floods at once.
const FLOODS_MAX: usize = 512;

/// Intervals without a flood after which it is over.
const QUIET: u64 = 10;

/// From so few sources it may be a scan: not if each asks each port once.
const SCANNERS_MAX: usize = 16;

impl Floods {
    /// Whether somebody is flooded.
    pub(super) fn has(&self, victim: Victim) -> bool {
        self.map.contains_key(&victim)
    }

    pub(super) fn any(&self) -> bool {
        !self.map.is_empty()
    }

    /// Takes the attempts and runs of an interval and decides.
    pub(super) fn interval(
        &mut self,
        now: Now,
        all: &Interval,
        options: &ScanOptions,
        losses: &mut Losses,
        sink: &mut impl RecordSink,
    ) {
        if may_flood(all, options) {
            self.measure(now, all, options, losses, sink);
        }
        self.go_on(now, options, sink);
    }

    /// Ends all floods: the input has ended.
    pub(super) fn end(&mut self, now: Now, options: &ScanOptions, sink: &mut impl RecordSink) {
        self.go_on(now, options, sink);
    }

    fn measure(
        &mut self,
        now: Now,
        all: &Interval,
        options: &ScanOptions,
        losses: &mut Losses,
        sink: &mut impl RecordSink,
    ) {
        let mut heavy: Vec<_> = loads(all, options)
            .into_iter()
            .map(|(victim, load)| (total(&victim, &load, all), victim, load))
            .filter(|&((packets, _), victim, _)| {
                let least = threshold(victim.0, options);
                // It goes on at half the rate at which it begins.
                packets >= least || packets >= least / 2 && self.map.contains_key(&victim)
            })
            .collect();
        heavy.sort_unstable_by_key(|&((packets, _), victim, _)| {
            (core::cmp::Reverse(packets), victim)
        });
        let mut details = details(all, heavy.iter().map(|&(_, victim, _)| victim));
        for ((packets, estimated), victim, load) in heavy {
            let Some(detail) = details
                .remove(&victim)
                .filter(|detail| detail.first.is_some())
            else {
                continue;
            };
            let known = self.map.contains_key(&victim);
            if !known && detail.is_scan(load.packets) {
                continue;
            }
            if !known && self.map.len() >= FLOODS_MAX {
                losses.count(Loss::FloodsUntracked, 1);
                continue;
            }
            let flood = self
                .map
                .entry(victim)
                .or_insert_with(|| Flood::new(&detail, now.index));
            flood.add(now.index, packets, estimated, detail);
            if estimated && let Some(sums) = &all.unlogged {
                flood.sources.join(sums.sources_of(&victim.1.address));
            }
            if !known {
                flood.write(victim, EpisodeState::Begun, now, options, sink);
            }
        }
    }

    fn go_on(&mut self, now: Now, options: &ScanOptions, sink: &mut impl RecordSink) {
        let window = intervals(options.window_ns);
        self.map.retain(|&victim, flood| {
            let over = now.is_last || now.index >= flood.last_interval + QUIET;
            if over {
                flood.write(victim, EpisodeState::Over, now, options, sink);
            } else if now.index >= flood.told + window && flood.packets > flood.told_packets {
                flood.write(victim, EpisodeState::Ongoing, now, options, sink);
            }
            !over
        });
    }
}

/// Whether there is enough of anything at all; most intervals of most captures have too little.
fn may_flood(all: &Interval, options: &ScanOptions) -> bool {
    let summed = all.unlogged.as_ref().map_or(0, |sums| sums.attempts);
    let mut parts = [summed; FloodKind::COUNT];
    for attempt in &all.attempts {
        if let Some(kind) = attempt.probe.flood()
            && is_part(kind, attempt)
            && let Some(count) = parts.get_mut(kind as usize)
        {
            *count += 1;
        }
    }
    for (key, runs) in &all.runs {
        if let Some(count) = parts.get_mut(key.kind as usize) {
            *count += runs.packets;
        }
    }
    let pairs = FloodKind::ALL.iter().zip(parts);
    pairs
        .into_iter()
        .any(|(&kind, count)| count >= threshold(kind, options) / 2)
}

/// The fewest packets of an interval that are a flood.
fn threshold(kind: FloodKind, options: &ScanOptions) -> u64 {
    let rate = match kind {
        FloodKind::Syn => options.syn_rate,
        FloodKind::Icmp => options.icmp_rate,
        FloodKind::Udp => options.udp_rate,
        FloodKind::Ack => options.ack_rate,
        FloodKind::Rst => options.rst_rate,
    };
    (u64::from(rate).max(1) * INTERVAL_NS / SECOND_NS).max(2)
}

const SECOND_NS: u64 = 1_000_000_000;

/// Whether an attempt is what floods are made of.
fn is_part(kind: FloodKind, attempt: &Attempt) -> bool {
    match (kind, Meaning::of(attempt)) {
        (FloodKind::Icmp, _) => true,
        // A connection that began before the capture did goes on; but not if all that the server
        // has said is a RST: then its ports came round again.
        (FloodKind::Ack | FloodKind::Rst, _) => {
            let has = |steps| attempt.steps.has_any(steps);
            !has(Steps::GOES_ON) || has(Steps::REFUSED) && !has(Steps::ANSWERED)
        }
        (FloodKind::Syn, Meaning::Question(outcome)) => outcome != Outcome::Idle,
        (FloodKind::Udp, Meaning::Question(_) | Meaning::Nothing) => true,
        _ => false,
    }
}

fn victim_of(attempt: &Attempt) -> Option<Victim> {
    let host = Host {
        ipv6: attempt.ipv6,
        address: attempt.target,
    };
    Some((attempt.probe.flood()?, host))
}

/// What each victim got.
fn loads(all: &Interval, options: &ScanOptions) -> Map<Victim, Load> {
    let mut loads: Map<Victim, Load> = Map::default();
    for attempt in &all.attempts {
        let Some(victim) = victim_of(attempt) else {
            continue;
        };
        let load = loads.entry(victim).or_default();
        load.attempts += 1;
        if is_part(victim.0, attempt) {
            load.packets += 1;
            load.parts += 1;
        }
    }
    for (key, runs) in &all.runs {
        let host = Host {
            ipv6: key.ipv6,
            address: key.target,
        };
        loads.entry((key.kind, host)).or_default().packets += runs.packets;
    }
    loads.retain(|(_, host), _| !host.is_in(&options.allow_targets));
    loads
}

/// All packets to a victim, and whether that is an estimate: of what was not logged, the same
/// share is part of the flood.
fn total((kind, host): &Victim, load: &Load, all: &Interval) -> (u64, bool) {
    let summed = all
        .unlogged
        .as_ref()
        .map_or(0, |sums| sums.packets_to(*kind, &host.address));
    let part = summed * load.parts.max(u64::from(load.attempts == 0)) / load.attempts.max(1);
    (load.packets + part, part > 0)
}

/// What is needed to describe one victim's flood.
#[derive(Debug, Default)]
struct Detail {
    first: Option<(u64, Timestamp)>,
    last: Timestamp,
    senders: Senders,
    asked: HashSet<(Host, u16)>,
    ports: BTreeMap<u16, u64>,
    samples: Vec<Host>,
}

fn details(all: &Interval, victims: impl Iterator<Item = Victim>) -> Map<Victim, Detail> {
    let mut details: Map<_, _> = victims.map(|victim| (victim, Detail::default())).collect();
    if details.is_empty() {
        return details;
    }
    for attempt in &all.attempts {
        if let Some(victim) = victim_of(attempt)
            && is_part(victim.0, attempt)
            && let Some(detail) = details.get_mut(&victim)
        {
            let source = Host {
                ipv6: attempt.ipv6,
                address: attempt.source,
            };
            detail.add(source, attempt.port, 1, (attempt.number, attempt.time));
            detail.last = detail.last.max(attempt.time);
        }
    }
    let mut runs: Vec<_> = all.runs.iter().collect();
    runs.sort_unstable_by_key(|(key, runs)| (runs.first.1, **key));
    for (key, runs) in runs {
        let host = |address| Host {
            ipv6: key.ipv6,
            address,
        };
        let victim = (key.kind, host(key.target));
        if let Some(detail) = details.get_mut(&victim) {
            let first = (runs.first.1, runs.first.0);
            detail.add(host(key.source), key.port, runs.packets, first);
            detail.last = detail.last.max(runs.last);
        }
    }
    details
}

impl Detail {
    fn add(&mut self, source: Host, port: u16, packets: u64, first: (u64, Timestamp)) {
        self.first = Some(self.first.map_or(first, |known| known.min(first)));
        self.senders.insert(source);
        if self.samples.len() < 4 && !self.samples.contains(&source) {
            self.samples.push(source);
        }
        if self.senders.are_few() {
            self.asked.insert((source, port));
        }
        *self.ports.entry(port).or_insert(0) += packets;
    }

    /// Whether few sources ask each port once or so.
    fn is_scan(&self, packets: u64) -> bool {
        self.senders.are_few() && packets < 4 * self.asked.len() as u64
    }

    fn port(&self) -> Option<u16> {
        let all: u64 = self.ports.values().sum();
        let most = self
            .ports
            .iter()
            .max_by_key(|&(port, count)| (*count, core::cmp::Reverse(*port)));
        most.and_then(|(&port, &count)| (count * 2 > all && port > 0).then_some(port))
    }
}

impl Flood {
    fn new(detail: &Detail, index: u64) -> Self {
        Self {
            first: detail.first.unwrap_or_default(),
            last: detail.last,
            last_interval: index,
            told: index,
            told_packets: 0,
            packets: 0,
            peak: 0,
            port: None,
            sources: Senders::default(),
            samples: Vec::new(),
            estimated: false,
        }
    }

    fn add(&mut self, index: u64, packets: u64, estimated: bool, detail: Detail) {
        self.packets += packets;
        self.estimated |= estimated;
        self.last_interval = index;
        self.last = self.last.max(detail.last);
        if packets > self.peak {
            self.peak = packets;
            self.port = detail.port();
        }
        for &host in &detail.samples {
            if self.samples.len() < 4 && !self.samples.contains(&host) {
                self.samples.push(host);
            }
        }
        self.sources.add(detail.senders);
    }

    fn write(
        &mut self,
        (kind, host): Victim,
        state: EpisodeState,
        now: Now,
        options: &ScanOptions,
        sink: &mut impl RecordSink,
    ) {
        self.told = now.index;
        self.told_packets = self.packets;
        let (source_count, about) = match &self.sources {
            Senders::Exact(set) => (set.len() as u64, false),
            Senders::About(sketch) => (sketch.estimate().min(self.packets), true),
        };
        let target = host.ip();
        let record = FloodRecord {
            uid: uid(options, host, self.first.0, 64 | kind as u64),
            state,
            kind,
            target,
            port: self.port,
            first: self.first.1,
            last: self.last,
            first_packet: self.first.0,
            source_count,
            sources: Samples::first(target, self.samples.iter().map(|host| host.ip())),
            packets: self.packets,
            peak_rate: self.peak * SECOND_NS / INTERVAL_NS,
            estimated: self.estimated || about,
        };
        let key = RecordKey {
            time: now.time,
            number: self.first.0,
            ordinal: FLOOD_ORDINAL + kind as u32 * 4 + state as u32,
        };
        sink.flood(key, &record);
    }
}

impl Default for Senders {
    fn default() -> Self {
        Self::Exact(Set::default())
    }
}

impl Senders {
    // PERF: a set of all of a flood's senders, in order, was what cost most of it.
    fn insert(&mut self, host: Host) {
        match self {
            Self::Exact(set) => {
                set.insert(host);
                if set.len() > SENDERS_EXACT_MAX {
                    self.approximate();
                }
            }
            Self::About(sketch) => sketch.add(hash_address(&host.address, 1)),
        }
    }

    fn add(&mut self, others: Self) {
        match others {
            Self::Exact(set) => set.into_iter().for_each(|host| self.insert(host)),
            Self::About(sketch) => self.join(sketch.registers()),
        }
    }

    /// Whether they may be scanners.
    fn are_few(&self) -> bool {
        matches!(self, Self::Exact(set) if set.len() <= SCANNERS_MAX)
    }

    /// Adds senders of which only a sketch is there.
    fn join(&mut self, registers: &[u8]) {
        self.approximate();
        if let Self::About(sketch) = self {
            sketch.join(registers);
        }
    }

    fn approximate(&mut self) {
        if let Self::Exact(set) = self {
            let mut sketch = Distinct::new();
            for host in set.iter() {
                sketch.add(hash_address(&host.address, 1));
            }
            *self = Self::About(sketch);
        }
    }
}
