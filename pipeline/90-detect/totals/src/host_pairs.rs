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
use flowpin_aggregate::travel::{
    put, put_address, put_bytes, put_key, take, take_address, take_key, take_name,
};
use flowpin_aggregate::{Aggregate, Decider, Emit, Observer, Travel};
use flowpin_config::Plan;
use flowpin_packet::Timestamp;
use flowpin_record::{ConnRecord, HostPairRecord, PairConnection, RecordKey, Sent};
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

impl PairNews {
    /// The last news: there are no more connections.
    pub const fn over(end: Timestamp) -> Self {
        Self {
            ended: Vec::new(),
            end: Some(end),
        }
    }
}

/// Connections travel. That a worker has no more of them does not: who waits for several decides.
impl Travel for PairNews {
    fn earliest(&self) -> Option<Timestamp> {
        self.ended.iter().map(|(key, _)| key.time).min()
    }

    fn keep_between(&mut self, from: Timestamp, until: Timestamp) {
        let is_kept = |(key, _): &Ended| from <= key.time && key.time < until;
        self.ended.retain(is_kept);
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, self.ended.len() as u64);
        for (key, one) in &self.ended {
            put_key(&mut out, *key);
            put_address(&mut out, one.client);
            put_address(&mut out, one.server);
            put(&mut out, one.first.0);
            put(&mut out, one.last.0);
            put_sent(&mut out, &one.to_server);
            put_sent(&mut out, &one.to_client);
            put_bytes(&mut out, one.service.unwrap_or_default().as_bytes());
        }
        out
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let from = &mut rest;
        let mut ended = Vec::new();
        for _ in 0..take(from)? {
            let key = take_key(from)?;
            let one = PairConnection {
                client: take_address(from)?,
                server: take_address(from)?,
                first: Timestamp(take(from)?),
                last: Timestamp(take(from)?),
                to_server: take_sent(from)?,
                to_client: take_sent(from)?,
                service: take_name(from).map(|name| Some(name).filter(|name| !name.is_empty()))?,
            };
            ended.push((key, one));
        }
        rest.is_empty().then_some(Self { ended, end: None })
    }
}

fn put_sent(out: &mut Vec<u8>, sent: &Sent) {
    for word in [sent.packets, sent.frame_bytes, sent.stream_bytes] {
        put(out, word);
    }
}

fn take_sent(from: &mut &[u8]) -> Option<Sent> {
    Some(Sent {
        packets: take(from)?,
        frame_bytes: take(from)?,
        stream_bytes: take(from)?,
    })
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

#[cfg(test)]
mod tests {
    use super::{PairConnection, PairNews};
    use flowpin_aggregate::Travel;
    use flowpin_packet::Timestamp;
    use flowpin_record::{RecordKey, Sent};

    fn news(times: &[u64]) -> PairNews {
        let ended = times.iter().map(|&time| {
            let key = RecordKey {
                time: Timestamp(time),
                number: time + 1,
                ordinal: 3,
            };
            let sent = |packets| Sent {
                packets,
                frame_bytes: 60 * packets,
                stream_bytes: time,
            };
            let one = PairConnection {
                client: [10, 0, 0, time as u8].into(),
                server: [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into(),
                first: Timestamp(time / 2),
                last: Timestamp(time),
                to_server: sent(4),
                to_client: sent(time),
                service: [None, Some("dns"), Some("of-a-user")][time as usize % 3],
            };
            (key, one)
        });
        PairNews {
            ended: ended.collect(),
            end: None,
        }
    }

    /// What is written is read; what is cut off is not.
    #[test]
    fn connections_travel() {
        let one = news(&[5, 3, 4, 9]);
        let bytes = one.to_bytes();
        let read = PairNews::of_bytes(&bytes).unwrap();
        assert_eq!(format!("{one:?}"), format!("{read:?}"));
        for cut in 0..bytes.len() {
            assert!(PairNews::of_bytes(&bytes[..cut]).is_none(), "{cut}");
        }
    }

    /// A slice has what ends within it.
    #[test]
    fn what_others_tell_is_left_out() {
        let mut one = news(&[5, 3, 4, 9]);
        one.keep_between(Timestamp(4), Timestamp(9));
        assert_eq!(one.ended.len(), 2);
        assert_eq!(one.earliest(), Some(Timestamp(4)));
        assert_eq!(news(&[]).earliest(), None);
    }
}
