//! The reading end.

use crate::shared::Shared;
use crate::sync::{Arc, Ordering};

/// The reading end of a ring.
///
/// Dropping it closes the ring; items left in it are dropped with the last end.
#[derive(Debug)]
pub struct Consumer<T> {
    shared: Arc<Shared<T>>,
    /// The next position to take.
    head: usize,
    /// Where the producer was when last looked.
    stale_tail: usize,
    /// All before it are given back to the producer.
    released: usize,
}

impl<T> Consumer<T> {
    pub(crate) fn new(shared: Arc<Shared<T>>) -> Self {
        Self {
            shared,
            head: 0,
            stale_tail: 0,
            released: 0,
        }
    }

    /// Takes the oldest item; `None` if none is shown. Its slot is given back with its chunk, or
    /// when the ring is found empty.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.ready_at_least(1) == 0 {
            self.release();
            return None;
        }
        let item = self.take();
        if self.head & self.shared.chunk_mask == 0 {
            self.release();
        }
        Some(item)
    }

    /// Takes up to `out.len()` items, oldest first, gives their slots back, and returns how many.
    #[inline]
    pub fn pop_slice(&mut self, out: &mut [T]) -> usize
    where
        T: Copy,
    {
        let count = self.ready_at_least(out.len()).min(out.len());
        for place in out.iter_mut().take(count) {
            *place = self.take();
        }
        self.release();
        count
    }

    /// Takes up to `max` items, oldest first, as an iterator. Their slots are given back when it
    /// is dropped; items that it did not reach stay in the ring.
    #[inline]
    pub fn pop_chunk(&mut self, max: usize) -> Popped<'_, T> {
        let left = self.ready_at_least(max).min(max);
        Popped {
            consumer: self,
            left,
        }
    }

    /// Gives all slots back whose items were taken.
    #[inline]
    pub fn release(&mut self) {
        if self.released != self.head {
            self.released = self.head;
            // Release: the slots taken so far are the producer's once it sees this; pairs with
            // the Acquire load of `head` in `Producer::free_at_least`.
            self.shared
                .head
                .position
                .store(self.head, Ordering::Release);
        }
    }

    /// Items that can be taken just now.
    pub fn ready(&mut self) -> usize {
        self.ready_at_least(self.shared.slots.count())
    }

    /// Whether the producer was dropped; items may be left.
    #[inline]
    pub fn is_closed(&self) -> bool {
        // Acquire: the final `tail` is visible to who sees this; pairs with the producer's drop.
        self.shared.tail.closed.load(Ordering::Acquire)
    }

    /// Whether the producer was dropped and all its items were taken.
    #[inline]
    pub fn is_finished(&mut self) -> bool {
        // First the flag, then `tail`: the other way round, items pushed in between and the drop
        // after them would look like the end.
        self.is_closed() && self.ready_at_least(1) == 0
    }

    /// How many items are shown; looks at the producer only if `wanted` are not known to be.
    #[inline]
    fn ready_at_least(&mut self, wanted: usize) -> usize {
        let ready = self.stale_tail.wrapping_sub(self.head);
        if ready >= wanted {
            return ready;
        }
        // Acquire: the slots before it are ours once we see it; pairs with `Producer::flush`.
        self.stale_tail = self.shared.tail.position.load(Ordering::Acquire);
        self.stale_tail.wrapping_sub(self.head)
    }

    /// Takes the item at `head`, which the caller knows to be shown.
    #[inline]
    fn take(&mut self) -> T {
        debug_assert!(self.head != self.stale_tail);
        let item = self.shared.slots.at(self.head).with(|slot| {
            // SAFETY: the position lies in `head..stale_tail`: the producer will not touch the
            // slot before our store of `head` in `release`.
            let item = unsafe { slot.read() };
            // SAFETY: the producer filled the slot before its Release store of `tail`, which our
            // Acquire load has seen. `head` moves past it below, so it is read only once.
            unsafe { item.assume_init() }
        });
        self.head = self.head.wrapping_add(1);
        item
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        self.release();
        // Release: whoever sees it sees the final `head` too; pairs with `Producer::is_closed`.
        self.shared.head.closed.store(true, Ordering::Release);
    }
}

/// Items taken together, from [`Consumer::pop_chunk`].
#[derive(Debug)]
pub struct Popped<'a, T> {
    consumer: &'a mut Consumer<T>,
    left: usize,
}

impl<T> Iterator for Popped<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        Some(self.consumer.take())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for Popped<'_, T> {}

impl<T> Drop for Popped<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.consumer.release();
    }
}
