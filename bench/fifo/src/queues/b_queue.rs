//! B-Queue (Wang, Zhang, Tang, Hua, 2012): as FastForward, but a whole batch of slots is probed at
//! once; a consumer that finds too little halves the distance until it finds something.

use super::{Item, Queue, Receiver, Sender, Slots};
use std::sync::Arc;

/// Slots probed at once.
const BATCH: usize = 64;

pub(crate) struct BQueue;

pub(crate) struct Push {
    slots: Arc<Slots>,
    at: usize,
    /// Slots before this are empty.
    until: usize,
    batch: usize,
}

pub(crate) struct Pop {
    slots: Arc<Slots>,
    at: usize,
    /// Slots before this are full.
    until: usize,
    batch: usize,
}

impl Queue for BQueue {
    type Sender = Push;
    type Receiver = Pop;

    fn pair(capacity: usize) -> (Push, Pop) {
        let slots = Slots::shared(capacity);
        let batch = BATCH.min(capacity / 4).max(1);
        let push = Push {
            slots: Arc::clone(&slots),
            at: 0,
            until: 0,
            batch,
        };
        (
            push,
            Pop {
                slots,
                at: 0,
                until: 0,
                batch,
            },
        )
    }
}

impl Sender for Push {
    #[inline]
    fn push(&mut self, item: Item) -> bool {
        if self.at == self.until {
            // The last of the batch is given back last.
            let ahead = self.at.wrapping_add(self.batch);
            if !self.slots.at(ahead.wrapping_sub(1)).is_empty() {
                return false;
            }
            self.until = ahead;
        }
        self.slots.at(self.at).put(item);
        self.at = self.at.wrapping_add(1);
        true
    }
}

impl Receiver for Pop {
    #[inline]
    fn pop(&mut self) -> Option<Item> {
        if self.at == self.until {
            let mut distance = self.batch;
            while self.slots.at(self.at.wrapping_add(distance - 1)).is_empty() {
                distance /= 2;
                if distance == 0 {
                    return None;
                }
            }
            self.until = self.at.wrapping_add(distance);
        }
        let slot = self.slots.at(self.at);
        let item = slot.get();
        slot.clear();
        self.at = self.at.wrapping_add(1);
        Some(item)
    }
}
