//! What a worker hands over: the log of each closed interval.

use crate::INTERVAL_SHIFT;
use crate::event::{Probe, Steps};
use crate::filter::Unlogged;
use flowpin_packet::Timestamp;
use flowpin_record::FloodKind;
use std::collections::BTreeMap;

/// One attempt to begin a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) source: [u8; 16],
    pub(crate) target: [u8; 16],
    pub(crate) time: Timestamp,
    pub(crate) number: u64,
    /// Only to find it again on the worker: differs with their number.
    pub(crate) handle: u32,
    /// The shard's attempt before this one in the log: its place and one, 0 if none. Likewise.
    pub(crate) before: u32,
    pub(crate) port: u16,
    pub(crate) steps: Steps,
    pub(crate) probe: Probe,
    pub(crate) ipv6: bool,
    pub(crate) shard: u8,
    /// Logged beyond the shard's cap, because its source had asked before.
    pub(crate) late: bool,
}

// PERF: one line of the cache each, written once.
const _: () = assert!(size_of::<Attempt>() <= 64);

impl Attempt {
    /// Whether nothing that still happens on its connection changes what it counts for.
    #[inline]
    pub(crate) const fn is_settled(&self) -> bool {
        let last = match self.probe {
            Probe::Syn => Steps::CLIENT_DATA,
            Probe::SctpInit => Steps::WENT_ON.with(Steps::CLIENT_DATA),
            Probe::Ack | Probe::Maimon => Steps::WENT_ON,
            Probe::IpProtocol => Steps::ANSWERED,
            Probe::Stray | Probe::Reset => Steps::GOES_ON,
            _ => Steps::ANSWERED.with(Steps::CLIENT_DATA),
        };
        self.steps.has_any(last)
    }
}

/// What runs of packets have in common: they are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunKey {
    pub(crate) kind: FloodKind,
    pub(crate) ipv6: bool,
    pub(crate) target: [u8; 16],
    pub(crate) source: [u8; 16],
    pub(crate) port: u16,
    pub(crate) shard: u8,
}

/// Runs of packets of one key in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Runs {
    pub(crate) packets: u64,
    pub(crate) first: (Timestamp, u64),
    pub(crate) last: Timestamp,
}

/// All that one worker, or all together, saw begin in an interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interval {
    /// Stream time divided by the interval's length.
    pub(crate) index: u64,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) runs: BTreeMap<RunKey, Runs>,
    pub(crate) unlogged: Option<Box<Unlogged>>,
}

impl Interval {
    pub(crate) fn is_empty(&self) -> bool {
        self.attempts.is_empty() && self.runs.is_empty() && self.unlogged.is_none()
    }

    /// Adds another worker's. No two have a shard in common, so neither an attempt nor a key.
    pub(crate) fn join(&mut self, other: Self) {
        self.attempts.extend(other.attempts);
        self.runs.extend(other.runs);
        match (&mut self.unlogged, other.unlogged) {
            (Some(mine), Some(theirs)) => mine.join(&theirs),
            (None, theirs @ Some(_)) => self.unlogged = theirs,
            (_, None) => {}
        }
    }
}

/// The intervals that a worker has closed since its last summary.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Every interval below this one is closed.
    pub(crate) upto: u64,
    pub(crate) intervals: Vec<Interval>,
}

impl Summary {
    /// How many attempts are in it.
    pub fn len(&self) -> usize {
        self.intervals.iter().map(|log| log.attempts.len()).sum()
    }

    /// Whether nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.intervals.iter().all(Interval::is_empty)
    }

    /// Without what another observer has told, which saw everything before `begin`, the beginning
    /// of an interval. This one was shown before only the connections that were open then: so
    /// what it knows of the interval before is how they went on.
    #[must_use]
    pub fn since(mut self, begin: Timestamp) -> Self {
        let first = begin.0 >> INTERVAL_SHIFT;
        self.intervals.retain(|one| one.index + 1 >= first);
        for interval in &mut self.intervals {
            if interval.index < first {
                interval.runs.clear();
                interval.unlogged = None;
            }
        }
        self
    }

    /// What is left when another observer goes on at `end`, the beginning of an interval: it
    /// tells of the attempts on connections that `goes_on` knows by the numbers of their first
    /// packets, as they may still be answered.
    #[must_use]
    pub fn handed_over(mut self, end: Timestamp, goes_on: impl Fn(u64) -> bool) -> Self {
        let last = (end.0 >> INTERVAL_SHIFT).saturating_sub(1);
        self.upto = last;
        for interval in self.intervals.iter_mut().filter(|one| one.index == last) {
            interval.attempts.retain(|attempt| !goes_on(attempt.number));
        }
        self
    }
}
