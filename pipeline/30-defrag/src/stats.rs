//! What became of the fragments.

use flowpin_counters::{Loss, Losses};

/// Counts of fragments. Each one received is in exactly one of the others: see
/// [`DefragStats::accounted`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DefragStats {
    /// Fragments in.
    pub received: u64,
    /// Fragments in datagrams that were completed; repeated ones too.
    pub absorbed: u64,
    /// Fragments that wait now.
    pub held: u64,
    /// Fragments that went on alone, because a cap was reached.
    pub lone: u64,
    /// Fragments refused by themselves: too long, empty, not a multiple of 8, without headers.
    pub refused: u64,
    /// Datagrams completed.
    pub datagrams: u64,
    /// Fragments given up: `FragmentTimeout`, `FragmentMemory`, `FragmentHostMemory`,
    /// `FragmentDatagramMemory`, `FragmentCount`, `FragmentOverlap`.
    pub losses: Losses,
}

impl DefragStats {
    /// Sum of all that became of fragments: always equal to `received`.
    pub fn accounted(&self) -> u64 {
        [
            self.absorbed,
            self.held,
            self.lone,
            self.refused,
            self.lost(),
        ]
        .iter()
        .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Fragments given up, for any reason.
    pub fn lost(&self) -> u64 {
        [
            self.losses.of(Loss::FragmentTimeout),
            self.losses.of(Loss::FragmentMemory),
            self.losses.of(Loss::FragmentCount),
            self.losses.of(Loss::FragmentOverlap),
            self.losses.of(Loss::FragmentHostMemory),
            self.losses.of(Loss::FragmentDatagramMemory),
        ]
        .iter()
        .fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// Adds to a counter.
pub(crate) const fn add(counter: &mut u64, count: u64) {
    *counter = counter.saturating_add(count);
}
