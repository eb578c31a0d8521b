//! The senders of a flood.

use super::super::Host;
use crate::filter::REGISTERS;
use crate::hash::Set;
use crate::sketch::{Distinct, hash_address};

/// Source addresses: exactly up to a number, then about.
#[derive(Debug)]
pub(super) enum Senders {
    Exact(Set<Host>),
    About(Distinct<REGISTERS>),
}

const SENDERS_EXACT_MAX: usize = 1024;

/// At most this many sources may be scanners, if each asks each port about once.
const SCANNERS_MAX: usize = 16;

impl Default for Senders {
    fn default() -> Self {
        Self::Exact(Set::default())
    }
}

impl Senders {
    /// How many there are, and whether that is an estimate.
    pub(super) fn count(&self) -> (u64, bool) {
        match self {
            Self::Exact(set) => (set.len() as u64, false),
            Self::About(sketch) => (sketch.estimate(), true),
        }
    }

    // PERF: a set of all of a flood's senders, in order, was what cost most of it.
    pub(super) fn insert(&mut self, host: Host) {
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

    pub(super) fn add(&mut self, others: Self) {
        match others {
            Self::Exact(set) => set.into_iter().for_each(|host| self.insert(host)),
            Self::About(sketch) => self.join(sketch.registers()),
        }
    }

    /// Whether they may be scanners.
    pub(super) fn are_few(&self) -> bool {
        matches!(self, Self::Exact(set) if set.len() <= SCANNERS_MAX)
    }

    /// Adds senders of which only a sketch is there.
    pub(super) fn join(&mut self, registers: &[u8]) {
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
