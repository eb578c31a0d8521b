//! The deciding side: all workers' logs of an interval together, in the order of the input.
//!
//! ```text
//!  summaries ─► waiting, by interval ─all workers have closed it─► sort by packet number
//!                                                                  ├─► sources ─► scan records
//!                                                                  ├─► floods  ─► flood records
//!                                                                  └─► victims ─► scan records
//! ```
//!
//! Sorting makes one sequence of what came in parts, the same for any parts; from there on
//! everything is sequential, so every cap and every eviction gives the same answer.

mod amid;
mod beginning;
mod firsts;
mod floods;
mod scan;
mod sources;
mod targets;
mod used;
mod verdict;
mod victims;

use crate::options::ScanOptions;
use crate::summary::{Interval, Summary};
use crate::{INTERVAL_NS, INTERVAL_SHIFT};
use core::net::IpAddr;
use floods::Floods;
use flowpin_counters::Losses;
use flowpin_packet::{Endpoints, Network, Timestamp};
use flowpin_record::{RecordSink, Uid};
use sources::Sources;
use std::collections::BTreeMap;
use victims::Victims;

/// Decides what is a scan or a flood, once all workers have closed an interval.
#[derive(Debug)]
pub struct Merger {
    options: ScanOptions,
    /// By worker: every interval below is closed.
    upto: Vec<u64>,
    waiting: BTreeMap<u64, Vec<Interval>>,
    /// Every interval below is decided.
    decided: u64,
    sources: Sources,
    floods: Floods,
    victims: Victims,
    losses: Losses,
}

/// The interval that is being decided, and when its records are due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) index: u64,
    pub(crate) time: Timestamp,
    /// The input has ended: nothing goes on.
    pub(crate) is_last: bool,
}

impl Merger {
    /// A merger for the observers of so many workers.
    pub fn new(workers: usize, options: ScanOptions) -> Self {
        Self {
            sources: Sources::new(&options.caps),
            options,
            upto: vec![0; workers],
            waiting: BTreeMap::new(),
            decided: 0,
            floods: Floods::default(),
            victims: Victims::default(),
            losses: Losses::default(),
        }
    }

    /// Takes a worker's summary; each worker's come in order. A worker that there is not is a
    /// defect of the caller.
    pub fn add(&mut self, worker: usize, summary: Summary) {
        debug_assert!(worker < self.upto.len(), "no such worker");
        if let Some(upto) = self.upto.get_mut(worker) {
            *upto = (*upto).max(summary.upto);
        }
        for interval in summary.intervals {
            self.waiting
                .entry(interval.index)
                .or_default()
                .push(interval);
        }
    }

    /// Decides all intervals that every worker has closed. Records have the time at which the
    /// interval behind their own ended, and come in order.
    pub fn decide(&mut self, sink: &mut impl RecordSink) {
        let upto = self.upto.iter().copied().min().unwrap_or(0);
        self.decide_below(upto.min(INDEX_MAX), sink);
    }

    /// Up to where all records were delivered: no later one has a time up to and including this,
    /// but those of [`Merger::finish`], which have the time of the input's end. So what may be
    /// written is the least of this and of the stream's time.
    pub fn watermark(&self) -> Timestamp {
        Timestamp(due(self.decided).0.saturating_sub(1))
    }

    /// Decides what is left, after every worker's last summary: the input ended at `end`, which
    /// lies behind every packet's stream time.
    pub fn finish(&mut self, end: Timestamp, sink: &mut impl RecordSink) {
        let last = (end.0 >> INTERVAL_SHIFT) + 1;
        self.decide_below(last.saturating_sub(2), sink);
        while let Some((index, parts)) = self.waiting.pop_first() {
            let now = Now {
                index,
                time: end,
                is_last: false,
            };
            self.decide_one(now, parts, sink);
            self.decided = index + 1;
        }
        let now = Now {
            index: self.decided,
            time: end,
            is_last: true,
        };
        self.sources.end(now, &self.options, sink);
        self.floods.end(now, &self.options, sink);
        self.victims.end(now, &self.options, sink);
    }

    /// What did not fit.
    pub const fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Sources that are being watched.
    pub fn sources_held(&self) -> usize {
        self.sources.len()
    }

    /// Targets held exactly, over all sources.
    pub fn targets_held(&self) -> usize {
        self.sources.targets()
    }

    fn decide_below(&mut self, upto: u64, sink: &mut impl RecordSink) {
        while self.decided < upto {
            let index = if self.goes_on() {
                self.decided
            } else {
                // Nothing is due before something is seen.
                match self.waiting.first_key_value() {
                    Some((&first, _)) if first < upto => first.max(self.decided),
                    _ => break,
                }
            };
            let parts = self.waiting.remove(&index).unwrap_or_default();
            let now = Now {
                index,
                time: due(index),
                is_last: false,
            };
            self.decide_one(now, parts, sink);
            self.decided = index + 1;
        }
        self.decided = self.decided.max(upto);
    }

    /// Whether records may be due though nothing was seen.
    fn goes_on(&self) -> bool {
        self.sources.has_scans() || self.floods.any() || self.victims.has_scans()
    }

    fn decide_one(&mut self, now: Now, parts: Vec<Interval>, sink: &mut impl RecordSink) {
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        parts.for_each(|part| all.join(part));
        // A packet begins one connection at most.
        all.attempts.sort_unstable_by_key(|attempt| attempt.number);
        let Self {
            options,
            sources,
            floods,
            victims,
            losses,
            ..
        } = self;
        sources.interval(now, &all, options, losses, sink);
        floods.interval(now, &all, options, losses, sink);
        victims.interval(now, &all, (sources, floods), options, losses, sink);
    }
}

/// When the records of an interval are due: its attempts could be answered until then.
fn due(index: u64) -> Timestamp {
    Timestamp(index.saturating_add(2).saturating_mul(INTERVAL_NS))
}

/// Behind every interval whose records have a time.
const INDEX_MAX: u64 = (u64::MAX >> INTERVAL_SHIFT) - 2;

/// How many intervals a length of time is, at least one.
fn intervals(nanos: u64) -> u64 {
    nanos.div_ceil(INTERVAL_NS).max(1)
}

/// An address of either family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Host {
    pub(crate) ipv6: bool,
    pub(crate) address: [u8; 16],
}

impl std::hash::Hash for Host {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        let word = u128::from_le_bytes(self.address);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
        let (low, high) = (word as u64, (word >> 64) as u64);
        hasher.write_u64(low);
        // IPv4 addresses have no more; the family is compared.
        if high != 0 {
            hasher.write_u64(high);
        }
    }
}

impl Host {
    pub(crate) fn ip(self) -> IpAddr {
        Endpoints::address(self.address, self.ipv6)
    }

    #[inline]
    fn is_in(&self, networks: &[Network]) -> bool {
        !networks.is_empty() && self.is_in_any(networks)
    }

    // PERF: apart, so that an address is not kept in the parts that are looked at here: who reads
    // half of it at once would wait for them.
    #[cold]
    #[inline(never)]
    fn is_in_any(&self, networks: &[Network]) -> bool {
        networks.iter().any(|network| network.contains(self.ip()))
    }
}

/// An identifier of what begins with a packet. 0 would mean none.
fn uid(options: &ScanOptions, host: Host, number: u64, what: u64) -> Uid {
    let address = crate::sketch::hash_address(&host.address, options.id_seed);
    Uid(crate::sketch::mix(address ^ crate::sketch::mix(number << 8 | what)).max(1))
}

/// Ordinals behind those of connections, anomalies and tunnels.
const SCAN_ORDINAL: u32 = 1 << 26;
const DISTRIBUTED_ORDINAL: u32 = SCAN_ORDINAL + (1 << 20);
const FLOOD_ORDINAL: u32 = 1 << 27;
