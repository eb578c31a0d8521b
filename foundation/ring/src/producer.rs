//! The writing end.

use crate::shared::Shared;
use crate::sync::{Arc, Ordering};
use core::mem::MaybeUninit;

/// The writing end of a ring.
///
/// Dropping it shows all that was pushed and closes the ring.
#[derive(Debug)]
pub struct Producer<T> {
    shared: Arc<Shared<T>>,
    /// The next position to fill.
    tail: usize,
    /// Where the consumer was when last looked.
    stale_head: usize,
    /// All before it are shown to the consumer.
    published: usize,
    /// When `flush_if_older_than` first saw what is not shown yet.
    pending_since: Option<u64>,
}

impl<T> Producer<T> {
    pub(crate) fn new(shared: Arc<Shared<T>>) -> Self {
        Self {
            shared,
            tail: 0,
            stale_head: 0,
            published: 0,
            pending_since: None,
        }
    }

    /// Adds an item. It is shown when its chunk is full, or by a flush.
    ///
    /// # Errors
    ///
    /// Gives the item back if the ring is full; all pushed before is then shown.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), T> {
        if self.free_at_least(1) == 0 {
            self.flush();
            return Err(item);
        }
        self.put(item);
        if self.tail & self.shared.chunk_mask == 0 {
            self.flush();
        }
        Ok(())
    }

    /// Adds as many of `items` as fit, shows them all, and returns how many.
    #[inline]
    pub fn push_slice(&mut self, items: &[T]) -> usize
    where
        T: Copy,
    {
        let count = self.free_at_least(items.len()).min(items.len());
        for item in items.iter().take(count) {
            self.put(*item);
        }
        self.flush();
        count
    }

    /// Room for `count` items, to be filled one by one without another look at the consumer;
    /// `None` if there is not so much.
    #[inline]
    pub fn reserve(&mut self, count: usize) -> Option<Reservation<'_, T>> {
        (self.free_at_least(count) >= count).then_some(Reservation {
            producer: self,
            left: count,
        })
    }

    /// Shows all that was pushed.
    #[inline]
    pub fn flush(&mut self) {
        if self.published != self.tail {
            self.published = self.tail;
            self.pending_since = None;
            // Release: the slots filled so far are the consumer's once it sees this; pairs with
            // the Acquire loads of `tail` in `Consumer`.
            self.shared
                .tail
                .position
                .store(self.tail, Ordering::Release);
        }
    }

    /// Shows what was pushed if calls to this function have seen it wait for `age`. Time is the
    /// caller's, in any unit that grows (ticks of the processor, packets, nanoseconds).
    ///
    /// Called once per turn of the producer's loop, it bounds how long an item can wait in a
    /// chunk that does not fill, without asking for the time on every push.
    #[inline]
    pub fn flush_if_older_than(&mut self, age: u64, now: u64) {
        if self.published == self.tail {
            return;
        }
        match self.pending_since {
            None => self.pending_since = Some(now),
            Some(since) if now.wrapping_sub(since) >= age => self.flush(),
            Some(_) => {}
        }
    }

    /// Items that fit just now.
    pub fn free(&mut self) -> usize {
        self.free_at_least(self.capacity())
    }

    /// Items pushed that are not shown yet.
    #[inline]
    pub fn pending(&self) -> usize {
        self.tail.wrapping_sub(self.published)
    }

    /// All slots.
    pub fn capacity(&self) -> usize {
        self.shared.slots.count()
    }

    /// Whether the consumer was dropped: nobody will take what is pushed, and what is not free
    /// was never taken.
    #[inline]
    pub fn is_closed(&self) -> bool {
        // Acquire: the final `head` is visible to who sees this; pairs with the consumer's drop.
        self.shared.head.closed.load(Ordering::Acquire)
    }

    /// How many slots are free; looks at the consumer only if `wanted` are not known to be.
    #[inline]
    fn free_at_least(&mut self, wanted: usize) -> usize {
        let capacity = self.shared.slots.count();
        let free = capacity - self.tail.wrapping_sub(self.stale_head);
        if free >= wanted {
            return free;
        }
        // Acquire: the slots before it are ours once we see it; pairs with the Release store in
        // `Consumer::release`.
        self.stale_head = self.shared.head.position.load(Ordering::Acquire);
        capacity - self.tail.wrapping_sub(self.stale_head)
    }

    /// Fills the slot at `tail`, which the caller knows to be free.
    #[inline]
    fn put(&mut self, item: T) {
        debug_assert!(self.tail.wrapping_sub(self.stale_head) < self.capacity());
        self.shared.slots.at(self.tail).with_mut(|slot| {
            // SAFETY: fewer than `capacity` positions lie in `stale_head..tail`, so the slot was
            // given back before the Release store of `head` that we loaded (or never used), and
            // the consumer will not look at it before our store of `tail` in `flush`.
            unsafe { slot.write(MaybeUninit::new(item)) }
        });
        self.tail = self.tail.wrapping_add(1);
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        self.flush();
        // Release: whoever sees it sees the final `tail` too; pairs with `Consumer::is_finished`.
        self.shared.tail.closed.store(true, Ordering::Release);
    }
}

/// Room for items, from [`Producer::reserve`]. What was put is shown by `commit`; without it, at
/// the producer's next flush.
#[derive(Debug)]
pub struct Reservation<'a, T> {
    producer: &'a mut Producer<T>,
    left: usize,
}

impl<T> Reservation<'_, T> {
    /// Adds an item.
    ///
    /// # Errors
    ///
    /// Gives the item back if the reservation is used up.
    #[inline]
    pub fn put(&mut self, item: T) -> Result<(), T> {
        if self.left == 0 {
            return Err(item);
        }
        self.left -= 1;
        self.producer.put(item);
        Ok(())
    }

    /// Shows what was put. Room that was not used is given up.
    #[inline]
    pub fn commit(self) {
        self.producer.flush();
    }
}
