//! The queues: ours, those of the papers as their papers describe them, and other crates'.
//!
//! The papers' queues hold items of 32 bytes in words that are loaded and stored one by one,
//! which on x86-64 are plain moves, and publish with the orderings that their algorithms need. So
//! they are safe code without a lock.

mod b_queue;
mod crates;
mod fast_forward;
mod lamport;
mod lock;
mod mc_ring;

pub(crate) use b_queue::BQueue;
pub(crate) use crates::{CrossbeamArray, Flowpin, FlowpinSlices, Rtrb};
pub(crate) use fast_forward::FastForward;
pub(crate) use lamport::Lamport;
pub(crate) use lock::Lock;
pub(crate) use mc_ring::McRing;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What goes through: a pointer-sized descriptor and what travels with it. The first word is never
/// 0, which some of the papers' queues take for "empty".
pub type Item = [u64; 4];

/// A kind of queue.
pub(crate) trait Queue {
    type Sender: Sender + Send + 'static;
    type Receiver: Receiver + Send + 'static;
    fn pair(capacity: usize) -> (Self::Sender, Self::Receiver);
}

/// The producer's end.
pub trait Sender {
    /// False if there is no room.
    fn push(&mut self, item: Item) -> bool;
    /// Shows what was pushed.
    fn flush(&mut self) {}
}

/// The consumer's end.
pub trait Receiver {
    /// The oldest item that is shown.
    fn pop(&mut self) -> Option<Item>;
    /// Gives back the places of what was popped.
    fn release(&mut self) {}
}

/// A place for an item.
#[derive(Default)]
struct Slot([AtomicU64; 4]);

impl Slot {
    /// Stores the first word last: who sees it sees the others.
    #[inline]
    fn put(&self, item: Item) {
        for (word, value) in self.0.iter().zip(item).skip(1) {
            word.store(value, Ordering::Relaxed);
        }
        // Pairs with the load in `is_empty`.
        self.0[0].store(item[0], Ordering::Release);
    }

    #[inline]
    fn get(&self) -> Item {
        [0, 1, 2, 3].map(|nth: usize| self.0[nth].load(Ordering::Relaxed))
    }

    #[inline]
    fn is_empty(&self) -> bool {
        // Pairs with the stores in `put` and `clear`.
        self.0[0].load(Ordering::Acquire) == 0
    }

    #[inline]
    fn clear(&self) {
        self.0[0].store(0, Ordering::Release);
    }
}

/// A number on a cache line of its own, and on the pair of lines that x86 fetches together.
#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicUsize);

/// Slots, a power of two.
struct Slots {
    all: Box<[Slot]>,
    mask: usize,
}

impl Slots {
    fn shared(capacity: usize) -> Arc<Self> {
        let count = capacity.next_power_of_two();
        Arc::new(Self {
            all: (0..count).map(|_| Slot::default()).collect(),
            mask: count - 1,
        })
    }

    #[inline]
    fn at(&self, position: usize) -> &Slot {
        // The mask keeps it within.
        &self.all[position & self.mask]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivers_all_in_order<Q: Queue>() {
        const COUNT: u64 = 5_000;
        let (mut sender, mut receiver) = Q::pair(64);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for number in 1..=COUNT {
                    while !sender.push([number, number * 3, 7, !number]) {
                        sender.flush();
                        std::thread::yield_now();
                    }
                }
                sender.flush();
            });
            for number in 1..=COUNT {
                let item = loop {
                    match receiver.pop() {
                        Some(item) => break item,
                        None => {
                            receiver.release();
                            std::thread::yield_now();
                        }
                    }
                };
                assert_eq!(item, [number, number * 3, 7, !number]);
            }
        });
    }

    /// A queue that loses or mixes items would look fast.
    #[test]
    fn every_queue_delivers_all_items_in_order() {
        delivers_all_in_order::<Lock>();
        delivers_all_in_order::<Lamport>();
        delivers_all_in_order::<FastForward>();
        delivers_all_in_order::<McRing>();
        delivers_all_in_order::<BQueue>();
        delivers_all_in_order::<Flowpin>();
        delivers_all_in_order::<FlowpinSlices>();
        delivers_all_in_order::<Rtrb>();
        delivers_all_in_order::<CrossbeamArray>();
    }
}
