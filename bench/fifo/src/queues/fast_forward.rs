//! FastForward (Giacomoni, Moseley, Vachharajani, PPoPP 2008): no shared index; a slot that is
//! not empty is full. Its temporal slipping, which keeps the two ends some lines apart, is the
//! caller's there and left out here.

use super::{Item, Queue, Receiver, Sender, Slots};
use std::sync::Arc;

pub(crate) struct FastForward;

pub(crate) struct Push {
    slots: Arc<Slots>,
    at: usize,
}

pub(crate) struct Pop {
    slots: Arc<Slots>,
    at: usize,
}

impl Queue for FastForward {
    type Sender = Push;
    type Receiver = Pop;

    fn pair(capacity: usize) -> (Push, Pop) {
        let slots = Slots::shared(capacity);
        let push = Push {
            slots: Arc::clone(&slots),
            at: 0,
        };
        (push, Pop { slots, at: 0 })
    }
}

impl Sender for Push {
    #[inline]
    fn push(&mut self, item: Item) -> bool {
        let slot = self.slots.at(self.at);
        if !slot.is_empty() {
            return false;
        }
        slot.put(item);
        self.at = self.at.wrapping_add(1);
        true
    }
}

impl Receiver for Pop {
    #[inline]
    fn pop(&mut self) -> Option<Item> {
        let slot = self.slots.at(self.at);
        if slot.is_empty() {
            return None;
        }
        let item = slot.get();
        slot.clear();
        self.at = self.at.wrapping_add(1);
        Some(item)
    }
}
