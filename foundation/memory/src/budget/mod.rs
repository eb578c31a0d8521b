//! The bytes that each shard may have in use: one number a shard, for all stages of a worker.

mod accounts;

pub use accounts::Bytes;

use accounts::{Accounts, Left};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many shards there are; a shard is a `u8`.
const SHARDS: usize = 256;

/// The memory of a worker's shards, which connections, held segments, first bytes, parsers and
/// bodies share.
///
/// A copy refers to the same bytes: each stage has one. Whoever stores something takes its bytes
/// first, and gives them back when it is gone. What is charged is the size of the slot or block
/// that is used, and must depend on the shard's packets alone: then what is refused or evicted does
/// so, too, and is the same for any number of workers.
///
/// Only one thread uses it at a time, so no operation is an atomic read-modify-write.
///
/// ```
/// use flowpin_memory::Budget;
///
/// let budget = Budget::new(1000);
/// let (held, parsers) = (budget.clone(), budget);
/// assert!(held.take(7, 600));
/// assert!(!parsers.take(7, 600), "the shard has 400 left");
/// assert!(parsers.take(8, 600), "another shard");
/// held.give_back(7, 600);
/// assert!(parsers.take(7, 600));
/// assert_eq!(parsers.left(7), 400);
/// ```
#[derive(Clone, Debug)]
pub struct Budget {
    left: Arc<Left>,
    shard_bytes: u64,
    accounts: Arc<Accounts>,
}

impl Budget {
    /// A budget of `shard_bytes` for each shard, all of it left.
    pub fn new(shard_bytes: u64) -> Self {
        Self::among(Arc::default(), shard_bytes)
    }

    /// Another budget of the same worker, from which other bytes are taken: a connection that ends
    /// gives back both at the same time ([`Budget::lend`], [`Budget::withhold`]).
    #[must_use]
    pub fn beside(&self, shard_bytes: u64) -> Self {
        Self::among(Arc::clone(&self.accounts), shard_bytes)
    }

    fn among(accounts: Arc<Accounts>, shard_bytes: u64) -> Self {
        let left = Arc::new(core::array::from_fn(|_| AtomicU64::new(shard_bytes)));
        accounts.add(&left, shard_bytes);
        Self {
            left,
            shard_bytes,
            accounts,
        }
    }

    /// Takes `bytes` of a shard; false, and nothing is taken, if it has less left.
    #[inline]
    #[must_use]
    pub fn take(&self, shard: u8, bytes: u64) -> bool {
        let left = &self.left[usize::from(shard)];
        let less = left.load(Ordering::Relaxed).checked_sub(bytes);
        if let Some(less) = less {
            left.store(less, Ordering::Relaxed);
        }
        less.is_some()
    }

    /// Gives back bytes that were taken.
    #[inline]
    pub fn give_back(&self, shard: u8, bytes: u64) {
        let left = &self.left[usize::from(shard)];
        let more = left.load(Ordering::Relaxed).saturating_add(bytes);
        // While a shard is lent, it has more left than it has.
        debug_assert!(
            more <= self.shard_bytes.saturating_mul(2),
            "more is given back than was taken"
        );
        left.store(more, Ordering::Relaxed);
    }

    /// Until [`Budget::end_limit`], a shard has no more than `most` left: so what is done meanwhile
    /// takes no more, whether or not others have taken what they may. Returns both for that.
    #[must_use]
    pub fn limit(&self, shard: u8, most: u64) -> (u64, u64) {
        let left = &self.left[usize::from(shard)];
        let had = left.load(Ordering::Relaxed);
        let limited = had.min(most);
        left.store(limited, Ordering::Relaxed);
        (had, limited)
    }

    /// Ends a limit: the shard has left what it had, less what was taken meanwhile.
    pub fn end_limit(&self, shard: u8, (had, limited): (u64, u64)) {
        let left = &self.left[usize::from(shard)];
        let now = left.load(Ordering::Relaxed);
        left.store(
            had.saturating_add(now).saturating_sub(limited),
            Ordering::Relaxed,
        );
    }

    /// Bytes that a shard has left.
    #[inline]
    pub fn left(&self, shard: u8) -> u64 {
        self.left[usize::from(shard)].load(Ordering::Relaxed)
    }

    /// Bytes of each shard, in use or left.
    pub fn shard_bytes(&self) -> u64 {
        self.shard_bytes
    }

    /// How many values of `each` bytes can be in use at once, in `shards` shards and in one that is
    /// [lent](Budget::lend): what a pool that is never the reason for a refusal has room for.
    pub fn capacity_of(&self, each: u64, shards: u32) -> u32 {
        let one_shard = self.shard_bytes / each.max(1);
        let all = one_shard.saturating_mul(u64::from(shards).saturating_add(1));
        u32::try_from(all).unwrap_or(u32::MAX).min(u32::MAX - 1)
    }

    /// Whether everything taken was given back.
    pub fn is_whole(&self) -> bool {
        let is_full = |left: &AtomicU64| left.load(Ordering::Relaxed) == self.shard_bytes;
        self.left.iter().all(is_full)
    }
}

/// One kind of use of a [`Budget`], which is counted, and limited in each shard.
///
/// ```
/// use flowpin_memory::{Budget, Part};
///
/// let budget = Budget::new(1000);
/// let mut held = Part::new(budget.clone(), 500);
/// assert!(held.take(7, 400));
/// assert!(!held.take(7, 200), "its own limit");
/// assert!(budget.take(7, 550));
/// assert!(!held.take(7, 100), "the shard has 50 left");
/// assert_eq!(held.used(7), 400);
/// ```
#[derive(Debug)]
pub struct Part {
    budget: Budget,
    within: Budget,
}

impl Part {
    /// A use of `budget` that takes at most `most` bytes of each shard.
    pub fn new(budget: Budget, most: u64) -> Self {
        Self {
            within: budget.beside(most),
            budget,
        }
    }

    /// Whether a shard has `bytes` left for it.
    pub fn has_room(&self, shard: u8, bytes: u64) -> bool {
        bytes <= self.within.left(shard).min(self.budget.left(shard))
    }

    /// Takes `bytes` of a shard; false, and nothing is taken, if it has less left for it.
    #[must_use]
    pub fn take(&mut self, shard: u8, bytes: u64) -> bool {
        self.has_room(shard, bytes)
            && self.budget.take(shard, bytes)
            && self.within.take(shard, bytes)
    }

    /// Gives back bytes that were taken.
    pub fn give_back(&mut self, shard: u8, bytes: u64) {
        self.within.give_back(shard, bytes);
        self.budget.give_back(shard, bytes);
    }

    /// Bytes of a shard that it uses.
    pub fn used(&self, shard: u8) -> u64 {
        self.most().saturating_sub(self.within.left(shard))
    }

    /// The most that it uses of a shard.
    pub fn most(&self) -> u64 {
        self.within.shard_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;
    use proptest::prelude::*;

    /// What is limited takes no more, but loses nothing of what it gives back.
    #[test]
    fn a_limit_changes_nothing_but_what_is_taken_under_it() {
        let budget = Budget::new(1000);
        assert!(budget.take(7, 300));
        let before = budget.limit(7, 100);
        assert!(!budget.take(7, 101) && budget.take(7, 100));
        budget.give_back(7, 250);
        budget.end_limit(7, before);
        assert_eq!(budget.left(7), 850);
        let before = budget.limit(7, 2000);
        assert!(budget.take(7, 850));
        budget.end_limit(7, before);
        assert_eq!(budget.left(7), 0);
    }

    #[test]
    fn a_pool_has_room_for_all_that_the_budget_allows() {
        let budget = Budget::new(4 << 20);
        assert_eq!(budget.capacity_of(1 << 20, 256), 1028);
        assert_eq!(budget.capacity_of(3 << 20, 2), 3);
        assert_eq!(budget.capacity_of(0, 255), 1 << 30);
        assert_eq!(Budget::new(u64::MAX).capacity_of(1, 256), u32::MAX - 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// However it is taken and given back: never more than there is, and no shard at the
        /// expense of another.
        #[test]
        fn no_shard_has_more_than_its_bytes(
            steps in prop::collection::vec((any::<u8>(), 0u64..400, any::<bool>()), 0..200),
        ) {
            let budget = Budget::new(1000);
            let stages = [budget.clone(), budget.clone()];
            let mut taken = vec![Vec::new(); 256];
            for (nth, (shard, bytes, gives_back)) in steps.into_iter().enumerate() {
                let stage = &stages[nth % 2];
                let mine: &mut Vec<u64> = &mut taken[usize::from(shard)];
                if gives_back && let Some(bytes) = mine.pop() {
                    stage.give_back(shard, bytes);
                } else if stage.take(shard, bytes) {
                    mine.push(bytes);
                } else {
                    prop_assert!(mine.iter().sum::<u64>() + bytes > 1000);
                }
                prop_assert_eq!(budget.left(shard) + mine.iter().sum::<u64>(), 1000);
            }
            for (shard, mine) in (0..=u8::MAX).zip(&taken) {
                for &bytes in mine {
                    budget.give_back(shard, bytes);
                }
            }
            prop_assert!(budget.is_whole());
        }
    }
}
