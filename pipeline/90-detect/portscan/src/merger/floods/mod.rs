//! Hosts that are sent more than they asked for.

mod detail;
mod load;
mod senders;

use super::{FLOOD_ORDINAL, Host, Now, intervals, uid};
use crate::INTERVAL_NS;
use crate::options::ScanOptions;
use crate::summary::Interval;
use detail::{Detail, details};
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Timestamp;
use flowpin_record::{EpisodeState, FloodKind, FloodRecord, RecordKey, RecordSink, Samples};
use load::{loads, may_flood, threshold, total};
use senders::Senders;
use std::collections::BTreeMap;

/// The kind of a flood, and its target.
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
    reported: u64,
    reported_packets: u64,
    packets: u64,
    peak: u64,
    port: Option<u16>,
    sources: Senders,
    samples: Vec<Host>,
    estimated: bool,
}

/// Floods at once.
const FLOODS_MAX: usize = 512;

/// Intervals without a flood after which it is over.
const QUIET: u64 = 10;

const SECOND_NS: u64 = 1_000_000_000;

impl Floods {
    /// Whether a host is flooded.
    pub(super) fn has(&self, victim: Victim) -> bool {
        self.map.contains_key(&victim)
    }

    pub(super) fn any(&self) -> bool {
        !self.map.is_empty()
    }

    /// Decides from the attempts and runs of an interval.
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
            } else if now.index >= flood.reported + window && flood.packets > flood.reported_packets
            {
                flood.write(victim, EpisodeState::Ongoing, now, options, sink);
            }
            !over
        });
    }
}

impl Flood {
    fn new(detail: &Detail, index: u64) -> Self {
        Self {
            first: detail.first.unwrap_or_default(),
            last: detail.last,
            last_interval: index,
            reported: index,
            reported_packets: 0,
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
        self.reported = now.index;
        self.reported_packets = self.packets;
        let (source_count, about) = self.sources.count();
        // A sketch may guess more.
        let source_count = source_count.min(self.packets);
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
