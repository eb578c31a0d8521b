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
