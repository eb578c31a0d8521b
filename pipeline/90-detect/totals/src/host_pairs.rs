//! Records of the pairs of client and server (`--host-pairs`).
//!
//! ```text
//!  worker: connection records ─► in the order of keys ─► sums by pair ─► a record for each pair
//!  worker: connection records ─►                          (bounded)      at the end of the run
//! ```
//!
//! Guarantees that the sums of a pair's records are exact, however many pairs there are: when there
//! is no room for one more, all sums so far are written, and start again at 0. Connections are
//! taken in the order of their keys, so when that is depends on the input alone.
//!
//! Unlike the tables of the summary ([`crate::Hosts`]), which count on the workers whatever the
//! order, this costs the output stage some hundred instructions for each connection.

use crate::HostPair;
use flowpin_aggregate::{Aggregate, Decider, Emit, Observer};
use flowpin_config::Plan;
use flowpin_packet::Timestamp;
use flowpin_record::{ConnRecord, HostPairRecord, PairConnection, RecordKey};
use std::collections::HashMap;
use std::io;

/// The records of pairs as an aggregate.
#[derive(Debug)]
pub struct HostPairs;

impl Aggregate for HostPairs {
    type Observer = PairObserver;
    type Decider = PairDecider;

    fn is_wanted(plan: &Plan) -> bool {
        plan.output.host_pairs
    }

    fn observer(_: &Plan, _: u64) -> io::Result<PairObserver> {
        Ok(PairObserver::default())
    }

    fn decider(plan: &Plan, workers: usize) -> PairDecider {
        PairDecider::new(workers, pairs_max(plan))
    }
}

/// The most pairs that are summed at once: one for each 32 KiB of `--memory`, since each takes some
/// 800 bytes, and as much again while it is written.
fn pairs_max(plan: &Plan) -> usize {
    (plan.memory_bytes >> 15).clamp(1 << 10, 1 << 16) as usize
}

/// The side on a worker: finished connections.
#[derive(Debug, Default)]
pub struct PairObserver(Vec<Ended>);

type Ended = (RecordKey, PairConnection);

impl Observer for PairObserver {
    type News = PairNews;

    fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
        if record.interim == 0 {
            self.0.push((key, PairConnection::of(record)));
        }
    }

    fn held_bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }

    fn tick(&mut self, _: Timestamp) -> Option<PairNews> {
        (!self.0.is_empty()).then(|| PairNews {
            ended: core::mem::take(&mut self.0),
            end: None,
        })
    }

    fn finish(self, end: Timestamp) -> Option<PairNews> {
        Some(PairNews {
            ended: self.0,
            end: Some(end),
        })
    }
}

/// What a worker hands over.
#[derive(Debug)]
pub struct PairNews {
    ended: Vec<Ended>,
    /// When the input ended: in a worker's last news.
    end: Option<Timestamp>,
}

/// Adds up the connections of each pair.
#[derive(Debug)]
pub struct PairDecider {
    /// Waits until no worker can deliver anything before it.
    waiting: Vec<Ended>,
    sums: HashMap<HostPair, HostPairRecord>,
    pairs_max: usize,
    /// Workers that have more to hand over.
    running: usize,
    /// When the input ended.
    end: Timestamp,
}

impl PairDecider {
    fn new(workers: usize, pairs_max: usize) -> Self {
        Self {
            waiting: Vec::new(),
            sums: HashMap::new(),
            pairs_max,
            running: workers,
            end: Timestamp::default(),
        }
    }

    fn count(&mut self, key: RecordKey, one: &PairConnection, out: &mut impl Emit) {
        let pair = HostPair {
            client: one.client,
            server: one.server,
        };
        if let Some(sums) = self.sums.get_mut(&pair) {
            return sums.add(one);
        }
        if self.sums.len() >= self.pairs_max {
            // Right behind the record of the connection that found no room.
            self.write(key.time, key.number, out);
        }
        self.sums.insert(pair, HostPairRecord::of(one));
    }

    /// Writes all sums, in the order of the pairs, and starts again.
    fn write(&mut self, time: Timestamp, number: u64, out: &mut impl Emit) {
        let mut pairs: Vec<_> = self.sums.keys().copied().collect();
        pairs.sort_unstable();
        for (pair, ordinal) in pairs.iter().zip(FIRST_ORDINAL..) {
            let key = RecordKey {
                time,
                number,
                ordinal,
            };
            if let Some(record) = self.sums.get(pair) {
                out.host_pair(key, record);
            }
        }
        self.sums.clear();
    }
}

impl Decider for PairDecider {
    type News = PairNews;
    type Findings = ();
    const EMITS: bool = true;

    fn add(&mut self, _: usize, mut news: PairNews) {
        self.waiting.append(&mut news.ended);
        if let Some(end) = news.end {
            self.running = self.running.saturating_sub(1);
            self.end = self.end.max(end);
        }
    }

    fn decide(&mut self, delivered: RecordKey, out: &mut impl Emit) -> RecordKey {
        self.waiting.sort_unstable_by_key(|(key, _)| *key);
        let count = self.waiting.partition_point(|(key, _)| *key <= delivered);
        let mut waiting = core::mem::take(&mut self.waiting);
        for (key, one) in waiting.drain(..count) {
            self.count(key, &one, out);
        }
        self.waiting = waiting;
        if self.running > 0 {
            return delivered;
        }
        // Behind every other record: no watermark of a worker has come so far before its last.
        self.write(self.end, u64::MAX, out);
        RecordKey::LAST
    }

    fn take_findings(&mut self) {}
}

/// Above all ordinals that others use, so that keys stay unique.
const FIRST_ORDINAL: u32 = 1 << 31;
