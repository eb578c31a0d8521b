//! Which handles of a pool are free: those returned last first, then new ones in order.

use crate::Reserved;
use std::io;

/// The handles `0..capacity`, given out one at a time.
///
/// Guarantees that a handle given out is below `high_water`, that `high_water` never exceeds
/// `room`, nor that `capacity`, whatever is returned how often: pools rest their memory safety on
/// this.
#[derive(Debug)]
pub(crate) struct Handles {
    freed: Reserved<u32>,
    freed_count: u32,
    /// So many of them, those returned first, are of values whose pages were given back to the
    /// system.
    cold: u32,
    high_water: u32,
    /// So many have a place: in the list, and a value in the pool.
    room: u32,
    capacity: u32,
    #[cfg(debug_assertions)]
    used: Reserved<bool>,
}

impl Handles {
    pub(crate) fn new(capacity: u32) -> io::Result<Self> {
        Ok(Self {
            freed: Reserved::growing(capacity as usize)?,
            freed_count: 0,
            cold: 0,
            high_water: 0,
            room: 0,
            capacity,
            #[cfg(debug_assertions)]
            used: Reserved::growing(capacity as usize)?,
        })
    }

    /// A free handle; `None` if all are in use. `reach` makes room for as many values as it is
    /// called with: always before a handle is given out that has none yet.
    #[inline]
    pub(crate) fn take(&mut self, reach: impl FnOnce(usize)) -> Option<u32> {
        let handle = if self.freed_count > 0 {
            let handle = *self.freed.get(self.freed_count as usize - 1)?;
            self.freed_count -= 1;
            self.cold = self.cold.min(self.freed_count);
            handle
        } else {
            if self.high_water >= self.room && !self.make_room(reach) {
                return None;
            }
            self.high_water += 1;
            self.high_water - 1
        };
        #[cfg(debug_assertions)]
        {
            self.used[handle as usize] = true;
        }
        Some(handle)
    }

    /// Makes room for twice as many values; false if there may be no more.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, reach: impl FnOnce(usize)) -> bool {
        let room = self.room.saturating_mul(2).max(ROOM_MIN).min(self.capacity);
        if room <= self.room {
            return false;
        }
        self.freed.reach(room as usize);
        #[cfg(debug_assertions)]
        self.used.reach(room as usize);
        reach(room as usize);
        self.room = room;
        true
    }

    /// The handle that [`Handles::take`] will give out next, if there is one.
    #[inline]
    pub(crate) fn next(&self) -> u32 {
        let last = (self.freed_count as usize).checked_sub(1);
        let freed = last.and_then(|last| self.freed.get(last));
        freed.copied().unwrap_or(self.high_water)
    }

    /// Takes a handle back. One that was never given out is ignored.
    #[inline]
    pub(crate) fn put_back(&mut self, handle: u32) {
        #[cfg(debug_assertions)]
        {
            let used = self
                .used
                .get_mut(handle as usize)
                .is_some_and(core::mem::take);
            debug_assert!(used, "handle {handle} is not in use");
        }
        // A handle returned twice in release builds may fill the list, never overrun it.
        if handle < self.high_water
            && let Some(place) = self.freed.get_mut(self.freed_count as usize)
        {
            *place = handle;
            self.freed_count += 1;
        }
    }

    /// Handles in use.
    #[inline]
    pub(crate) fn in_use(&self) -> u32 {
        self.high_water.saturating_sub(self.freed_count)
    }

    /// The most handles that can be in use.
    #[inline]
    pub(crate) fn capacity(&self) -> u32 {
        self.capacity
    }

    /// All handles ever given out are below.
    #[inline]
    pub(crate) fn high_water(&self) -> u32 {
        self.high_water
    }

    /// How many values are resident: those that were ever in use, less those whose pages were given
    /// back.
    pub(crate) fn touched(&self) -> u32 {
        self.high_water.saturating_sub(self.cold)
    }

    /// Lowers the high-water mark to the last handle in use; returns which of those below are free.
    pub(crate) fn shrink(&mut self) -> io::Result<Free> {
        let mut free = Free::none(self.high_water);
        let freed = self.freed.get(..self.freed_count as usize);
        for &handle in freed.unwrap_or_default() {
            free.add(handle);
        }
        while let Some(last) = self.high_water.checked_sub(1)
            && free.has(last)
        {
            self.high_water = last;
        }
        let high_water = self.high_water;
        let count = self.retain(|handle| handle < high_water);
        self.freed_count = count;
        self.cold = self.cold.min(count);
        self.freed.discard(count as usize..self.capacity as usize)?;
        Ok(free)
    }

    /// Forgets the handles from `len` on, in use or free.
    pub(crate) fn truncate(&mut self, len: u32) {
        self.high_water = self.high_water.min(len);
        self.freed_count = self.retain(|handle| handle < len);
        self.cold = self.cold.min(self.freed_count);
        #[cfg(debug_assertions)]
        {
            let all = self.room as usize;
            self.used[(len as usize).min(all)..].fill(false);
        }
    }

    /// Moves the free handles of values whose pages were given back to where they are used last.
    pub(crate) fn set_cold(&mut self, is_cold: impl Fn(u32) -> bool) {
        let freed = self.freed.get_mut(..self.freed_count as usize);
        let freed = freed.unwrap_or_default();
        freed.sort_by_key(|&handle| !is_cold(handle));
        let cold = freed.partition_point(|&handle| is_cold(handle));
        self.cold = u32::try_from(cold).unwrap_or(0);
    }

    /// Keeps the free handles that `wanted` accepts, in order; returns how many.
    fn retain(&mut self, wanted: impl Fn(u32) -> bool) -> u32 {
        let mut kept = 0;
        for nth in 0..self.freed_count as usize {
            let handle = self.freed[nth];
            if wanted(handle) {
                self.freed[kept] = handle;
                kept += 1;
            }
        }
        u32::try_from(kept).unwrap_or(0)
    }

    /// Takes all handles back and gives the list's memory back to the system.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.freed_count = 0;
        self.cold = 0;
        self.high_water = 0;
        #[cfg(debug_assertions)]
        self.used.discard(0..self.capacity as usize)?;
        self.freed.discard(0..self.capacity as usize)
    }
}

/// So many values have room at first.
const ROOM_MIN: u32 = 256;

/// A set of free handles.
#[derive(Debug)]
pub(crate) struct Free(Vec<u64>);

impl Free {
    fn none(below: u32) -> Self {
        Self(vec![0; (below as usize).div_ceil(64)])
    }

    fn add(&mut self, handle: u32) {
        if let Some(word) = self.0.get_mut(handle as usize / 64) {
            *word |= 1 << (handle % 64);
        }
    }

    /// Whether a handle is free.
    pub(crate) fn has(&self, handle: u32) -> bool {
        let word = self.0.get(handle as usize / 64);
        word.is_some_and(|word| word >> (handle % 64) & 1 != 0)
    }
}
