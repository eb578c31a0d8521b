//! Ours, `rtrb` and `crossbeam`'s `ArrayQueue`, item by item.

use super::{Item, Queue, Receiver, Sender};
use crossbeam_queue::ArrayQueue;
use std::sync::Arc;

pub(crate) struct Flowpin;

impl Queue for Flowpin {
    type Sender = flowpin_ring::Producer<Item>;
    type Receiver = flowpin_ring::Consumer<Item>;

    fn pair(capacity: usize) -> (Self::Sender, Self::Receiver) {
        flowpin_ring::ring(capacity)
    }
}

impl Sender for flowpin_ring::Producer<Item> {
    #[inline]
    fn push(&mut self, item: Item) -> bool {
        Self::push(self, item).is_ok()
    }

    fn flush(&mut self) {
        Self::flush(self);
    }
}

impl Receiver for flowpin_ring::Consumer<Item> {
    #[inline]
    fn pop(&mut self) -> Option<Item> {
        Self::pop(self)
    }

    fn release(&mut self) {
        Self::release(self);
    }
}

/// Our ring with as many items at once as share eight lines.
pub(crate) struct FlowpinSlices;

const AT_ONCE: usize = 16;

pub(crate) struct Gather {
    ring: flowpin_ring::Producer<Item>,
    items: [Item; AT_ONCE],
    len: usize,
}

pub(crate) struct Deal {
    ring: flowpin_ring::Consumer<Item>,
    items: [Item; AT_ONCE],
    next: usize,
    len: usize,
}

impl Queue for FlowpinSlices {
    type Sender = Gather;
    type Receiver = Deal;

    fn pair(capacity: usize) -> (Gather, Deal) {
        let (there, here) = flowpin_ring::ring(capacity);
        let items = [Item::default(); AT_ONCE];
        let gather = Gather {
            ring: there,
            items,
            len: 0,
        };
        let deal = Deal {
            ring: here,
            items,
            next: 0,
            len: 0,
        };
        (gather, deal)
    }
}

impl Sender for Gather {
    #[inline]
    fn push(&mut self, item: Item) -> bool {
        if self.len == AT_ONCE {
            if self.ring.free() < AT_ONCE {
                return false;
            }
            self.flush();
        }
        self.items[self.len] = item;
        self.len += 1;
        true
    }

    fn flush(&mut self) {
        let mut sent = 0;
        while sent < self.len {
            sent += self.ring.push_slice(&self.items[sent..self.len]);
        }
        self.len = 0;
    }
}

impl Receiver for Deal {
    #[inline]
    fn pop(&mut self) -> Option<Item> {
        if self.next == self.len {
            self.len = self.ring.pop_slice(&mut self.items);
            self.next = 0;
        }
        let item = *self.items[..self.len].get(self.next)?;
        self.next += 1;
        Some(item)
    }
}

pub(crate) struct Rtrb;

impl Queue for Rtrb {
    type Sender = rtrb::Producer<Item>;
    type Receiver = rtrb::Consumer<Item>;

    fn pair(capacity: usize) -> (Self::Sender, Self::Receiver) {
        rtrb::RingBuffer::new(capacity)
    }
}

impl Sender for rtrb::Producer<Item> {
    #[inline]
    fn push(&mut self, item: Item) -> bool {
        Self::push(self, item).is_ok()
    }
}

impl Receiver for rtrb::Consumer<Item> {
    #[inline]
    fn pop(&mut self) -> Option<Item> {
        Self::pop(self).ok()
    }
}

pub(crate) struct CrossbeamArray;

impl Queue for CrossbeamArray {
    type Sender = Arc<ArrayQueue<Item>>;
    type Receiver = Arc<ArrayQueue<Item>>;

    fn pair(capacity: usize) -> (Self::Sender, Self::Receiver) {
        let queue = Arc::new(ArrayQueue::new(capacity));
        (Arc::clone(&queue), queue)
    }
}

impl Sender for Arc<ArrayQueue<Item>> {
    #[inline]
    fn push(&mut self, item: Item) -> bool {
        ArrayQueue::push(self, item).is_ok()
    }
}

impl Receiver for Arc<ArrayQueue<Item>> {
    #[inline]
    fn pop(&mut self) -> Option<Item> {
        ArrayQueue::pop(self)
    }
}
