//! What was logged and what was not, in a period of the workers' filters.

use crate::filter::Shards;
use crate::observer::PERIOD;
use crate::sketch::unseen;
use crate::summary::Interval;

/// What was logged and what was not, in a period of the workers' filters.
#[derive(Debug, Default)]
pub(in crate::merger) struct Period {
    index: u64,
    shards: Shards,
    logged: u64,
    unlogged: u64,
}

impl Period {
    pub(super) fn add(&mut self, interval: u64, all: &Interval) {
        if self.index != interval / PERIOD {
            *self = Self::default();
            self.index = interval / PERIOD;
        }
        self.logged += all.attempts.len() as u64;
        if let Some(sums) = &all.unlogged {
            self.shards.join(sums.shards);
            self.unlogged += sums.attempts;
        }
    }

    /// How many attempts of a source were probably not logged of which `logged` were, in shards
    /// of which so many were over their cap. `firsts_lost` are known to be among them.
    pub(in crate::merger) fn missed(&self, logged: u64, firsts_lost: u64, full_hit: u32) -> u64 {
        let full = self.shards.count();
        if full == 0 {
            return firsts_lost;
        }
        let empty = full.saturating_sub(full_hit);
        firsts_lost + unseen(logged + firsts_lost, full, empty, self.lost())
    }

    /// Shards that were over their cap.
    pub(in crate::merger) const fn shards(&self) -> Shards {
        self.shards
    }

    /// The share of first attempts that was not logged.
    fn lost(&self) -> f64 {
        self.unlogged as f64 / (self.logged + self.unlogged).max(1) as f64
    }
}
