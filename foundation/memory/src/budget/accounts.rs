//! All budgets of a worker together: what a connection's end may take, and what it frees.
//!
//! A connection that is due ends some time before its granule does: the moment depends on where
//! pieces end, and on the room for records. So its end finds all of a shard's memory left,
//! whatever others have taken ([`Budget::lend`]), and what it frees stays taken until the granule
//! ends ([`Budget::withhold`]).

use super::{Budget, SHARDS};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Of a worker: what its shards share, and what first bytes, held segments and bodies have of it
/// or beside it.
const ACCOUNTS: usize = 4;

/// Bytes of one shard, by account.
pub type Bytes = [u64; ACCOUNTS];

/// What each shard has left.
pub(super) type Left = [AtomicU64; SHARDS];

/// An account, and what each shard has in it.
type Account = (Arc<Left>, u64);

/// All accounts that belong together.
#[derive(Debug, Default)]
pub(super) struct Accounts([OnceLock<Account>; ACCOUNTS]);

impl Accounts {
    pub(super) fn add(&self, left: &Arc<Left>, shard_bytes: u64) {
        let mut free = self.0.iter();
        let is_added = free.any(|place| place.set((Arc::clone(left), shard_bytes)).is_ok());
        debug_assert!(is_added, "more accounts than places");
    }

    /// Calls `visit` for one shard's part of each account, with what the account has in a shard.
    fn visit(&self, shard: u8, mut visit: impl FnMut(usize, &AtomicU64, u64)) {
        for (nth, account) in self.0.iter().enumerate() {
            if let Some((left, shard_bytes)) = account.get() {
                visit(nth, &left[usize::from(shard)], *shard_bytes);
            }
        }
    }
}

impl Budget {
    /// Lends a connection that ends all of a shard's memory, as if nobody had taken any: what it
    /// gets must not depend on when its end is noticed. Returns what the shard had left, for
    /// [`Budget::end_loan`].
    #[must_use]
    pub fn lend(&self, shard: u8) -> Bytes {
        let mut had = Bytes::default();
        self.accounts.visit(shard, |nth, left, shard_bytes| {
            had[nth] = left.load(Ordering::Relaxed);
            left.store(shard_bytes, Ordering::Relaxed);
        });
        had
    }

    /// Ends a loan: the shard has left what it `had`, and what was given back meanwhile.
    pub fn end_loan(&self, shard: u8, had: Bytes) {
        self.accounts.visit(shard, |nth, left, shard_bytes| {
            let now = left.load(Ordering::Relaxed);
            debug_assert!(now >= shard_bytes, "what was lent is given back");
            let freed = now.saturating_sub(shard_bytes);
            debug_assert!(had[nth].saturating_add(freed) <= shard_bytes);
            left.store(had[nth].saturating_add(freed), Ordering::Relaxed);
        });
    }

    /// What a shard has left in all accounts.
    pub fn all_left(&self, shard: u8) -> Bytes {
        let mut all = Bytes::default();
        self.accounts.visit(shard, |nth, left, _| {
            all[nth] = left.load(Ordering::Relaxed);
        });
        all
    }

    /// Takes what a shard has left beyond what it `had`, and returns how much that is, for
    /// [`Budget::release`].
    #[must_use]
    pub fn withhold(&self, shard: u8, had: Bytes) -> Bytes {
        let mut withheld = Bytes::default();
        self.accounts.visit(shard, |nth, left, _| {
            let now = left.load(Ordering::Relaxed);
            withheld[nth] = now.saturating_sub(had[nth]);
            left.store(now.min(had[nth]), Ordering::Relaxed);
        });
        withheld
    }

    /// Gives back what was withheld.
    pub fn release(&self, shard: u8, withheld: Bytes) {
        self.accounts.visit(shard, |nth, left, _| {
            let more = left.load(Ordering::Relaxed).saturating_add(withheld[nth]);
            left.store(more, Ordering::Relaxed);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;
    use crate::Part;

    /// Whatever others have taken, an end finds the same, and they find theirs after it.
    #[test]
    fn an_end_has_all_of_a_shard_and_leaves_what_it_frees() {
        let budget = Budget::new(1000);
        let mut held = Part::new(budget.clone(), 500);
        let bodies = budget.beside(200);
        assert!(held.take(7, 300) && budget.take(7, 650) && bodies.take(7, 200));
        let had = budget.lend(7);
        assert!(held.take(7, 500) && bodies.take(7, 200), "all of it");
        held.give_back(7, 500);
        bodies.give_back(7, 200);
        held.give_back(7, 100);
        budget.end_loan(7, had);
        assert_eq!(
            (budget.left(7), held.used(7), bodies.left(7)),
            (150, 200, 0)
        );
    }

    #[test]
    fn what_is_withheld_is_taken_from_all_until_it_is_released() {
        let budget = Budget::new(1000);
        let mut held = Part::new(budget.clone(), 500);
        assert!(held.take(7, 300) && budget.take(7, 100));
        let had = budget.all_left(7);
        held.give_back(7, 200);
        budget.give_back(7, 100);
        let withheld = budget.withhold(7, had);
        assert_eq!((budget.left(7), held.used(7)), (600, 300));
        budget.release(7, withheld);
        assert_eq!((budget.left(7), held.used(7)), (900, 100));
        held.give_back(7, 100);
        assert!(budget.is_whole());
    }
}
