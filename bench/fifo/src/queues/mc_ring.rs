//! MCRingBuffer (Lee, Bu, Chandranmenon, IPDPS 2010): shared indices are read when a local copy
//! says full or empty, and written once a batch.

use super::{Item, Line, Queue, Receiver, Sender, Slots};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Items between two writes of a shared index, as in the paper's measurements.
const BATCH: usize = 50;

pub(crate) struct McRing;

struct Shared {
    read: Line,
    write: Line,
    slots: Arc<Slots>,
}

pub(crate) struct Push {
    shared: Arc<Shared>,
    next: usize,
    known_read: usize,
    unshown: usize,
    batch: usize,
}

pub(crate) struct Pop {
    shared: Arc<Shared>,
    next: usize,
    known_write: usize,
    unshown: usize,
    batch: usize,
}

impl Queue for McRing {
    type Sender = Push;
    type Receiver = Pop;

    fn pair(capacity: usize) -> (Push, Pop) {
        let shared = Arc::new(Shared {
            read: Line::default(),
            write: Line::default(),
            slots: Slots::shared(capacity),
        });
        let batch = BATCH.min(capacity / 4).max(1);
        let push = Push {
            shared: Arc::clone(&shared),
            next: 0,
            known_read: 0,
            unshown: 0,
            batch,
        };
        let pop = Pop {
            shared,
            next: 0,
            known_write: 0,
            unshown: 0,
            batch,
        };
        (push, pop)
    }
}

impl Sender for Push {
    #[inline]
    fn push(&mut self, item: Item) -> bool {
        if self.next.wrapping_sub(self.known_read) > self.shared.slots.mask {
            // Pairs with the store in `Pop::release`.
            self.known_read = self.shared.read.0.load(Ordering::Acquire);
            if self.next.wrapping_sub(self.known_read) > self.shared.slots.mask {
                return false;
            }
        }
        self.shared.slots.at(self.next).put(item);
        self.next = self.next.wrapping_add(1);
        self.unshown += 1;
        if self.unshown >= self.batch {
            self.flush();
        }
        true
    }

    fn flush(&mut self) {
        // Pairs with the load in `pop`.
        self.shared.write.0.store(self.next, Ordering::Release);
        self.unshown = 0;
    }
}

impl Receiver for Pop {
    #[inline]
    fn pop(&mut self) -> Option<Item> {
        if self.next == self.known_write {
            // Pairs with the store in `Push::flush`.
            self.known_write = self.shared.write.0.load(Ordering::Acquire);
            if self.next == self.known_write {
                return None;
            }
        }
        let item = self.shared.slots.at(self.next).get();
        self.next = self.next.wrapping_add(1);
        self.unshown += 1;
        if self.unshown >= self.batch {
            self.release();
        }
        Some(item)
    }

    fn release(&mut self) {
        // Pairs with the load in `push`.
        self.shared.read.0.store(self.next, Ordering::Release);
        self.unshown = 0;
    }
}
