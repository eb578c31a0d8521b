//! What both ends of a ring share: the two indices, each on its own line, and the slots.

use crate::slots::Slots;
use crate::sync::{AtomicBool, AtomicUsize, Ordering};

/// One end's line: written by that end only.
///
/// 128-byte aligned, not 64: x86 cores fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct EndLine {
    /// Producer: all before it are shown. Consumer: all before it are given back.
    pub(crate) position: AtomicUsize,
    /// This end was dropped; `position` is final.
    pub(crate) closed: AtomicBool,
}

impl EndLine {
    fn new() -> Self {
        Self {
            position: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Shared<T> {
    /// The consumer's line.
    pub(crate) head: EndLine,
    /// The producer's line.
    pub(crate) tail: EndLine,
    pub(crate) slots: Slots<T>,
    /// Items per chunk, less one; chunks are aligned to their size.
    pub(crate) chunk_mask: usize,
}

// SAFETY: a slot is touched by one side at a time: the positions in `head..tail` are the
// consumer's, all others the producer's, and each side hands slots over by a Release store of
// its position that the other sees by an Acquire load. Items cross threads, hence `T: Send`;
// they are never shared, so `T: Sync` is not needed.
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: the ring owns its memory and its items, and nothing in it is tied to a thread.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> Shared<T> {
    pub(crate) fn new(capacity: usize, chunk: usize) -> Self {
        const { assert!(size_of::<T>() > 0, "items without bytes need no ring") }
        let slots = Slots::new(capacity);
        let chunk = chunk.clamp(1, slots.count()).next_power_of_two();
        Self {
            head: EndLine::new(),
            tail: EndLine::new(),
            slots,
            chunk_mask: chunk - 1,
        }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // Relaxed: both ends are gone, and the reference count made their last stores visible.
        let tail = self.tail.position.load(Ordering::Relaxed);
        let mut position = self.head.position.load(Ordering::Relaxed);
        while position != tail {
            self.slots.at(position).with_mut(|slot| {
                // SAFETY: `&mut self`: nobody else can touch the slot.
                let slot = unsafe { &mut *slot };
                // SAFETY: the position lies in `head..tail`, both final (each end stores its own
                // when dropped): the producer filled the slot and the consumer never took it.
                unsafe { slot.assume_init_drop() };
            });
            position = position.wrapping_add(1);
        }
    }
}
