//! Losses of all threads, readable while a run goes on.

use flowpin_counters::{Loss, Losses};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One sum for each [`Loss`], over all threads.
#[derive(Clone, Debug)]
pub(crate) struct Ledger(Arc<[AtomicU64]>);

impl Default for Ledger {
    fn default() -> Self {
        Self(Loss::ALL.iter().map(|_| AtomicU64::new(0)).collect())
    }
}

// Relaxed: sums for display that guard no other data.
impl Ledger {
    /// The current sums.
    pub(crate) fn read(&self) -> Losses {
        let mut losses = Losses::default();
        for (&loss, sum) in Loss::ALL.iter().zip(self.0.iter()) {
            losses.count(loss, sum.load(Ordering::Relaxed));
        }
        losses
    }

    /// An account for one thread.
    pub(crate) fn account(&self) -> Account {
        Account {
            ledger: self.clone(),
            entered: Losses::default(),
        }
    }
}

/// One thread's part of a ledger.
#[derive(Debug)]
pub(crate) struct Account {
    ledger: Ledger,
    entered: Losses,
}

impl Account {
    /// Adds the losses since the last call. `losses`: all of this thread, from the start.
    // PERF: once a piece. Losses are rare: nothing is written to shared memory without one.
    pub(crate) fn enter(&mut self, losses: &Losses) {
        if *losses == self.entered {
            return;
        }
        for (loss, count) in losses.iter() {
            let more = count.saturating_sub(self.entered.of(loss));
            if let Some(sum) = self.ledger.0.get(loss as usize).filter(|_| more > 0) {
                sum.fetch_add(more, Ordering::Relaxed);
            }
        }
        self.entered = *losses;
    }
}

#[cfg(test)]
mod tests {
    use super::Ledger;
    use flowpin_counters::{Loss, Losses};

    /// Each thread enters its own sums repeatedly; each loss is counted once.
    #[test]
    fn accounts_add_up() {
        let ledger = Ledger::default();
        let mut accounts = [ledger.account(), ledger.account()];
        let mut losses = Losses::default();
        for round in 1..=3 {
            losses.count(Loss::RingFull, round);
            for account in &mut accounts {
                account.enter(&losses);
                account.enter(&losses);
            }
            let expected = 2 * losses.of(Loss::RingFull);
            assert_eq!(ledger.read().of(Loss::RingFull), expected);
        }
        assert_eq!(ledger.read().iter().count(), 1);
    }
}
