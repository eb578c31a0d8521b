//! Which handles of a pool are free: those returned last first, then new ones in order.

use crate::Reserved;
use std::io;

/// The handles `0..capacity`, given out one at a time.
///
/// Guarantees that a handle given out is below `high_water`, and that `high_water` never exceeds
/// `capacity`, whatever is returned how often: pools rest their memory safety on this.
#[derive(Debug)]
pub(crate) struct Handles {
    freed: Reserved<u32>,
    freed_count: u32,
    high_water: u32,
    capacity: u32,
    #[cfg(debug_assertions)]
    used: Reserved<bool>,
}

impl Handles {
    pub(crate) fn new(capacity: u32) -> io::Result<Self> {
        Ok(Self {
            freed: Reserved::new(capacity as usize)?,
            freed_count: 0,
            high_water: 0,
            capacity,
            #[cfg(debug_assertions)]
            used: Reserved::new(capacity as usize)?,
        })
    }

    /// A free handle; `None` if all are in use.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<u32> {
        let handle = if self.freed_count > 0 {
            let handle = *self.freed.get(self.freed_count as usize - 1)?;
            self.freed_count -= 1;
            handle
        } else if self.high_water < self.capacity {
            self.high_water += 1;
            self.high_water - 1
        } else {
            return None;
        };
        #[cfg(debug_assertions)]
        {
            self.used[handle as usize] = true;
        }
        Some(handle)
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

    /// Takes all handles back and gives the list's memory back to the system.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.freed_count = 0;
        self.high_water = 0;
        #[cfg(debug_assertions)]
        self.used.discard(0..self.capacity as usize)?;
        self.freed.discard(0..self.capacity as usize)
    }
}
