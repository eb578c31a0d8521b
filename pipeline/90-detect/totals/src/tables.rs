//! Where the workers' tallies meet.

use crate::tally::{Key, Ranking, Tally};
use flowpin_aggregate::Decider;
use flowpin_counters::{Loss, Losses};

/// Adds the workers' tallies, and leaves the heaviest rows.
#[derive(Debug)]
pub struct TallyDecider<K> {
    sum: Option<Box<Tally<K>>>,
    /// Counts connections without a row of their own.
    loss: Loss,
}

impl<K> TallyDecider<K> {
    /// Connections beyond the cap are counted under `loss`.
    pub(crate) fn new(loss: Loss) -> Self {
        Self { sum: None, loss }
    }
}

impl<K: Key> Decider for TallyDecider<K> {
    type News = Box<Tally<K>>;
    type Findings = Ranking<K>;
    const EMITS: bool = false;

    fn add(&mut self, _: usize, news: Box<Tally<K>>) {
        match &mut self.sum {
            Some(sum) => sum.add(&news),
            none => *none = Some(news),
        }
    }

    fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        if let Some(sum) = &self.sum {
            losses.count(self.loss, sum.rest().connections);
        }
        losses
    }

    fn take_findings(&mut self) -> Ranking<K> {
        let sum = self.sum.take();
        sum.map_or_else(Ranking::default, |sum| sum.ranking(ROWS_LISTED))
    }
}

/// Keys of a family with exact sums.
pub(crate) const KEYS_MAX: usize = 1 << 17;

/// Rows that are left for the summary.
const ROWS_LISTED: usize = 100;
