//! Lamport's queue (1983): two indices, each side reads the other's for every item.

use super::{Item, Line, Queue, Receiver, Sender, Slots};
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub(crate) struct Lamport;

struct Shared {
    head: Line,
    tail: Line,
    slots: Arc<Slots>,
}

pub(crate) struct Pusher(Arc<Shared>);

impl Queue for Lamport {
    type Sender = Pusher;
    type Receiver = Popper;

    fn pair(capacity: usize) -> (Pusher, Popper) {
        let shared = Arc::new(Shared {
            head: Line::default(),
            tail: Line::default(),
            slots: Slots::shared(capacity),
        });
        (Pusher(Arc::clone(&shared)), Popper(shared))
    }
}

impl Sender for Pusher {
    #[inline]
    fn push(&mut self, item: Item) -> bool {
        let shared = &*self.0;
        let tail = shared.tail.0.load(Ordering::Relaxed);
        // Pairs with the store of `head` in `pop`.
        if tail.wrapping_sub(shared.head.0.load(Ordering::Acquire)) > shared.slots.mask {
            return false;
        }
        shared.slots.at(tail).put(item);
        // Pairs with the load of `tail` in `pop`.
        shared.tail.0.store(tail.wrapping_add(1), Ordering::Release);
        true
    }
}

pub(crate) struct Popper(Arc<Shared>);

impl Receiver for Popper {
    #[inline]
    fn pop(&mut self) -> Option<Item> {
        let shared = &*self.0;
        let head = shared.head.0.load(Ordering::Relaxed);
        // Pairs with the store of `tail` in `push`.
        if head == shared.tail.0.load(Ordering::Acquire) {
            return None;
        }
        let item = shared.slots.at(head).get();
        // Pairs with the load of `head` in `push`.
        shared.head.0.store(head.wrapping_add(1), Ordering::Release);
        Some(item)
    }
}
