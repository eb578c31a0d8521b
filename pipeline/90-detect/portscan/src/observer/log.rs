//! The log of one interval, and how much of it each shard has filled.

use crate::summary::{Attempt, Interval};

/// The attempts of an interval.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) interval: Interval,
    /// Position of the first attempt.
    pub(super) base: u32,
}

impl Log {
    #[inline]
    pub(super) fn may_have(&self, position: u32) -> bool {
        let index = position.wrapping_sub(self.base) as usize;
        index < self.interval.attempts.len()
    }

    /// The attempt that began a connection, if it is here.
    #[inline]
    pub(super) fn find(&mut self, position: u32, handle: u32) -> Option<&mut Attempt> {
        let index = position.wrapping_sub(self.base) as usize;
        let attempt = self.interval.attempts.get_mut(index);
        attempt.filter(|attempt| attempt.handle == handle)
    }
}

/// What a shard has logged of the current interval.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) attempts: u16,
    pub(super) late: u16,
    pub(super) runs: u16,
    /// Place and one of the last attempt, 0 if none.
    pub(super) last: u32,
}
