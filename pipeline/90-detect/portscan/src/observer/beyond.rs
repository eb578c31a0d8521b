//! Attempts beyond a shard's cap: those of sources that asked before are logged all the same,
//! others are summed up.

use super::Observer;
use crate::event::Begin;
use crate::filter::{Question, Unlogged};
use crate::summary::Interval;
use flowpin_counters::Loss;

impl Observer {
    /// Beyond the cap: whether to log it all the same; else it is summed up.
    // PERF: by value, so that nothing but this needs `first` in memory.
    #[cold]
    pub(super) fn is_late(&mut self, first: Begin) -> bool {
        let sums = unlogged(&mut self.current.interval);
        sums.shards.insert(first.shard);
        if self.stressed.insert(first.shard) {
            self.remember_logged(first.shard);
        }
        let asked_before = self.filter.asked_before(first.shard, &question(&first));
        let counts = &mut self.counts[usize::from(first.shard)];
        let sums = unlogged(&mut self.current.interval);
        if asked_before && counts.late < self.caps.late {
            counts.late += 1;
            return true;
        }
        sums.attempts += 1;
        self.losses.count(Loss::ScanAttemptsSummed, 1);
        if let Some(kind) = first.probe.flood() {
            sums.count(kind, &first.target, &first.source, 1);
        }
        false
    }

    /// Within the cap of a shard that was over it: so that the source is known once it is again.
    #[cold]
    pub(super) fn remember(&mut self, first: Begin) {
        if self.stressed.has(first.shard) {
            self.filter.remember(first.shard, &question(&first));
        }
    }

    /// The shard's attempts of this interval, from before it was over its cap.
    fn remember_logged(&mut self, shard: u8) {
        let attempts = &self.current.interval.attempts;
        let mut place = self.counts[usize::from(shard)].last;
        while let Some(attempt) = (place as usize)
            .checked_sub(1)
            .and_then(|place| attempts.get(place))
        {
            let asked = Question {
                source: attempt.source,
                target: attempt.target,
                port: attempt.port,
                probe: attempt.probe,
            };
            self.filter.remember(shard, &asked);
            place = attempt.before;
        }
    }
}

fn question(first: &Begin) -> Question {
    Question {
        source: first.source,
        target: first.target,
        port: first.port,
        probe: first.probe,
    }
}

pub(super) fn unlogged(interval: &mut Interval) -> &mut Unlogged {
    interval
        .unlogged
        .get_or_insert_with(|| Box::new(Unlogged::new()))
}
