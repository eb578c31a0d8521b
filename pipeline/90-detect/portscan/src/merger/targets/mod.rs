//! The targets of one source: exact up to a number, in sketches beyond.

mod counts;
mod outcome;
mod sketch;

pub(super) use counts::{Counts, Line};
pub(super) use outcome::{Meaning, Outcome};

use super::Host;
use crate::hash::Map;
use crate::sketch::hash_target;
use crate::summary::Attempt;
use flowpin_packet::Timestamp;
use sketch::Sketch;

/// Host and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
}

impl Target {
    /// The target of an attempt.
    pub(super) const fn of(attempt: &Attempt) -> Self {
        Self {
            host: Host {
                ipv6: attempt.ipv6,
                address: attempt.target,
            },
            port: attempt.port,
        }
    }
}

/// One target, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) outcome: Outcome,
    pub(super) attempts: u32,
    /// Interval of the last attempt.
    pub(super) last: u64,
    /// Packet number and time of the first.
    pub(super) first: (u64, Timestamp),
}

/// The targets of one source.
#[derive(Debug)]
pub(super) enum Targets {
    /// A few: searched one by one.
    Few(Vec<(Target, Seen)>),
    /// Up to [`EXACT_MAX`]; read in no order that matters.
    Many(Map<Target, Seen>),
    /// Beyond.
    Sketch(Box<Sketch>),
}

/// Targets of a source that are kept one by one.
pub(super) const EXACT_MAX: usize = 2048;

const FEW_MAX: usize = 16;

/// Intervals after which a source that asks again does something else.
const AGAIN: u64 = 10;

/// Targets whose memory is kept for the next source.
pub(super) const SPARE_TARGETS_MAX: usize = 4;

impl Default for Targets {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Targets {
    /// None; with the memory of a few.
    pub(super) fn cleared(self) -> Self {
        match self {
            Self::Few(mut few) if few.capacity() <= SPARE_TARGETS_MAX => {
                few.clear();
                Self::Few(few)
            }
            _ => Self::default(),
        }
    }

    /// Adds an attempt; whether the target is new.
    pub(super) fn add(&mut self, attempt: &Attempt, outcome: Outcome, interval: u64) -> bool {
        let target = Target::of(attempt);
        let fresh = Seen {
            outcome,
            attempts: 1,
            last: interval,
            first: (attempt.number, attempt.time),
        };
        let known = match self {
            Self::Few(few) => few
                .iter_mut()
                .find_map(|(known, seen)| (*known == target).then_some(seen)),
            Self::Many(many) => many.get_mut(&target),
            Self::Sketch(sketch) => {
                sketch.add(&target, outcome);
                return true;
            }
        };
        if let Some(seen) = known {
            let is_over = seen.outcome >= Outcome::HalfOpen && interval > seen.last + AGAIN;
            if is_over || seen.outcome > outcome && outcome == Outcome::HalfOpen {
                // That was an ordinary connection.
                (seen.attempts, seen.first) = (0, fresh.first);
            }
            seen.outcome = outcome.after(seen.outcome);
            seen.attempts = seen.attempts.saturating_add(1);
            seen.last = interval;
            return false;
        }
        match self {
            Self::Few(few) if few.len() < FEW_MAX => few.push((target, fresh)),
            Self::Few(few) => {
                let mut many: Map<_, _> = few.drain(..).collect();
                many.insert(target, fresh);
                *self = Self::Many(many);
            }
            Self::Many(many) => {
                many.insert(target, fresh);
            }
            Self::Sketch(_) => {}
        }
        true
    }

    /// A target that is kept one by one.
    pub(super) fn get(&self, target: &Target) -> Option<&Seen> {
        match self {
            Self::Few(few) => few
                .iter()
                .find_map(|(known, seen)| (known == target).then_some(seen)),
            Self::Many(many) => many.get(target),
            Self::Sketch(_) => None,
        }
    }

    /// How many are kept one by one.
    pub(super) fn exact_len(&self) -> usize {
        match self {
            Self::Few(few) => few.len(),
            Self::Many(many) => many.len(),
            Self::Sketch(_) => 0,
        }
    }

    pub(super) const fn is_sketch(&self) -> bool {
        matches!(self, Self::Sketch(_))
    }

    /// Those that are kept one by one, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Target, &Seen)> {
        let (few, many) = match self {
            Self::Few(few) => (Some(few), None),
            Self::Many(many) => (None, Some(many)),
            Self::Sketch(_) => (None, None),
        };
        let few = few
            .into_iter()
            .flatten()
            .map(|(target, seen)| (target, seen));
        few.chain(many.into_iter().flatten())
    }

    /// Forgets targets that were last asked before an interval.
    pub(super) fn forget_before(&mut self, interval: u64) {
        match self {
            Self::Few(few) => few.retain(|(_, seen)| seen.last >= interval),
            Self::Many(many) => many.retain(|_, seen| seen.last >= interval),
            Self::Sketch(_) => {}
        }
    }

    /// Those that were last asked in an interval or after it.
    pub(super) fn since(&self, interval: u64) -> impl Iterator<Item = (&Target, &Seen)> {
        self.iter().filter(move |(_, seen)| seen.last >= interval)
    }

    /// Forgets targets that were first asked before a packet.
    pub(super) fn forget_begun_before(&mut self, number: u64) {
        match self {
            Self::Few(few) => few.retain(|(_, seen)| seen.first.0 >= number),
            Self::Many(many) => many.retain(|_, seen| seen.first.0 >= number),
            Self::Sketch(_) => {}
        }
    }

    /// From exact to sketch.
    pub(super) fn condense(&mut self) {
        let mut sketch = Box::new(Sketch::new());
        for (target, seen) in self.iter() {
            sketch.add(target, seen.outcome);
        }
        if !self.is_sketch() {
            *self = Self::Sketch(sketch);
        }
    }

    /// The least hash of the targets in each of 16 parts: two sets that have a share of their
    /// union in common, have about that share of these in common (Broder, 1997; one permutation:
    /// Li, Owen and Zhang, 2012).
    pub(super) fn signature(&self) -> [u64; 16] {
        let mut least = [u64::MAX; 16];
        for (target, _) in self.iter() {
            let hash = hash_target(&target.host.address, target.port);
            if let Some(place) = least.get_mut((hash & 15) as usize) {
                *place = (*place).min(hash);
            }
        }
        least
    }
}
