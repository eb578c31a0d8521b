//! A queue behind a lock: what the papers replaced.

use super::{Item, Queue, Receiver, Sender};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

pub(crate) struct Lock;

struct Shared {
    items: Mutex<VecDeque<Item>>,
    capacity: usize,
}

impl Shared {
    #[inline]
    fn items(&self) -> MutexGuard<'_, VecDeque<Item>> {
        // A thread that panicked left whole items behind.
        self.items
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

pub(crate) struct End(Arc<Shared>);

impl Queue for Lock {
    type Sender = End;
    type Receiver = End;

    fn pair(capacity: usize) -> (End, End) {
        let shared = Arc::new(Shared {
            items: Mutex::new(VecDeque::with_capacity(capacity)),
            capacity,
        });
        (End(Arc::clone(&shared)), End(shared))
    }
}

impl Sender for End {
    #[inline]
    fn push(&mut self, item: Item) -> bool {
        let mut items = self.0.items();
        let has_room = items.len() < self.0.capacity;
        if has_room {
            items.push_back(item);
        }
        has_room
    }
}

impl Receiver for End {
    #[inline]
    fn pop(&mut self) -> Option<Item> {
        self.0.items().pop_front()
    }
}
