//! First in, first out: what connections have asked and not yet got an answer to.

use crate::{KeptBytes, slot_bytes};
use flowpin_memory::{Budget, Chain, Pool, Slab};
use std::io;

/// The queue of one connection in [`Queues`]. A plain value: copies refer to the same entries.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    first: u32,
    last: u32,
    len: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            first: NIL,
            last: NIL,
            len: 0,
        }
    }
}

impl Queue {
    /// Entries in it.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether it has no entries.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The queues of all connections of a parser. An entry is a value and a text, which are charged to
/// the budget of the connection's shard until the entry is removed.
///
/// ```
/// use flowpin_memory::Budget;
/// use flowpin_parser::{Queue, Queues};
///
/// let budget = Budget::new(1 << 20);
/// let mut queues = Queues::new(&budget, 32)?;
/// let mut waiting = Queue::default();
/// assert!(queues.push(7, &mut waiting, 1, b"GET a") && queues.push(7, &mut waiting, 2, b"GET b"));
/// let mut text = Vec::new();
/// assert_eq!(queues.pop(7, &mut waiting, &mut text), Some(1));
/// assert_eq!(text, b"GET a");
/// assert!(!budget.is_whole());
/// assert_eq!(queues.pop(7, &mut waiting, &mut text), Some(2));
/// assert!(budget.is_whole());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Queues<T> {
    entries: Slab<Entry<T>>,
    texts: KeptBytes,
    budget: Budget,
}

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    value: T,
    text: Chain,
    next: u32,
}

impl<T: Copy> Queues<T> {
    /// What an entry takes without its text.
    const ENTRY_BYTES: u64 = slot_bytes::<Entry<T>>() as u64;

    /// Reserves address space for all that the budget allows. Texts are kept in blocks of
    /// `block_bytes`, a power of two from 32 to 2048.
    ///
    /// # Errors
    /// If the system refuses the address space.
    pub fn new(budget: &Budget, block_bytes: usize) -> io::Result<Self> {
        let entries = budget.capacity_of(Self::ENTRY_BYTES, SHARDS);
        Ok(Self {
            entries: Slab::with_capacity(entries)?,
            texts: KeptBytes::new(budget, block_bytes)?,
            budget: budget.clone(),
        })
    }

    /// The pools of entries and texts.
    pub fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.entries);
        visit(self.texts.pool());
    }

    /// Appends an entry; false, and nothing is appended, if the shard has no memory left.
    #[must_use]
    pub fn push(&mut self, shard: u8, queue: &mut Queue, value: T, text: &[u8]) -> bool {
        if !self.budget.take(shard, Self::ENTRY_BYTES) {
            return false;
        }
        let mut kept = Chain::default();
        let entry = if self.texts.append(shard, &mut kept, text) {
            self.entries.insert(Entry {
                value,
                text: kept,
                next: NIL,
            })
        } else {
            None
        };
        let Some(entry) = entry else {
            self.texts.release(shard, &mut kept);
            self.budget.give_back(shard, Self::ENTRY_BYTES);
            return false;
        };
        match self.entries.get_mut(queue.last) {
            Some(last) if queue.len > 0 => last.next = entry,
            _ => queue.first = entry,
        }
        queue.last = entry;
        queue.len = queue.len.saturating_add(1);
        true
    }

    /// Removes the oldest entry; `text` is replaced by its text.
    pub fn pop(&mut self, shard: u8, queue: &mut Queue, text: &mut Vec<u8>) -> Option<T> {
        if queue.is_empty() {
            return None;
        }
        let Entry {
            value,
            text: mut kept,
            next,
        } = *self.entries.get(queue.first)?;
        text.clear();
        self.texts.read(&kept, text);
        self.texts.release(shard, &mut kept);
        self.entries.remove(queue.first);
        self.budget.give_back(shard, Self::ENTRY_BYTES);
        queue.first = next;
        queue.len = queue.len.saturating_sub(1);
        Some(value)
    }

    /// The oldest entry; `text` is replaced by its text.
    pub fn oldest(&self, queue: &Queue, text: &mut Vec<u8>) -> Option<T> {
        text.clear();
        let entry = self.entries.get(queue.first).filter(|_| queue.len > 0)?;
        self.texts.read(&entry.text, text);
        Some(entry.value)
    }

    /// The value of the oldest entry.
    pub fn oldest_mut(&mut self, queue: &Queue) -> Option<&mut T> {
        let entry = self.entries.get_mut(queue.first);
        entry
            .filter(|_| queue.len > 0)
            .map(|entry| &mut entry.value)
    }

    /// Whether a shard has memory left for an entry whose text has `len` bytes.
    pub fn has_room(&self, shard: u8, len: usize) -> bool {
        let bytes = Self::ENTRY_BYTES.saturating_add(self.texts.cost(len));
        self.budget.left(shard) >= bytes
    }

    /// The values, the oldest first.
    pub fn values(&self, queue: Queue) -> impl Iterator<Item = T> {
        let mut next = queue.first;
        (0..queue.len).map_while(move |_| {
            let entry = self.entries.get(next)?;
            next = entry.next;
            Some(entry.value)
        })
    }
}

const NIL: u32 = u32::MAX;
const SHARDS: u32 = 256;

#[cfg(test)]
mod tests {
    use super::{Queue, Queues};
    use flowpin_memory::Budget;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Each queue is one of values and texts, whatever the others do, as far as the memory of
        /// the shard goes; and gives all of it back.
        #[test]
        fn queues_are_queues(
            steps in prop::collection::vec((0usize..3, any::<bool>(), 0usize..80), 0..120),
        ) {
            let budget = Budget::new(1000);
            let mut queues = Queues::new(&budget, 32).unwrap();
            let mut all = [Queue::default(); 3];
            let mut model: [VecDeque<(u32, Vec<u8>)>; 3] = Default::default();
            let mut text = Vec::new();
            for (number, (which, is_push, len)) in (0..).zip(steps) {
                let (queue, model) = (&mut all[which], &mut model[which]);
                if is_push {
                    let bytes = vec![b'a'; len];
                    let before = budget.left(9);
                    let has_room = queues.has_room(9, len);
                    if queues.push(9, queue, number, &bytes) {
                        prop_assert!(has_room);
                        model.push_back((number, bytes));
                    } else {
                        prop_assert!(!has_room);
                        prop_assert!(before < 24 + 4 + 40 * 3);
                        prop_assert_eq!(budget.left(9), before);
                    }
                } else {
                    let oldest = queues.oldest(queue, &mut text).map(|one| (one, text.clone()));
                    prop_assert_eq!(oldest.as_ref(), model.front());
                    let value = queues.oldest_mut(queue).map(|one| *one);
                    prop_assert_eq!(value, model.front().map(|one| one.0));
                    let popped = queues.pop(9, queue, &mut text);
                    let popped = popped.map(|value| (value, text.clone()));
                    prop_assert_eq!(popped, model.pop_front());
                }
                prop_assert_eq!(queue.len(), model.len());
                let values: Vec<u32> = queues.values(*queue).collect();
                let expected: Vec<u32> = model.iter().map(|one| one.0).collect();
                prop_assert_eq!(values, expected);
            }
            for queue in &mut all {
                while queues.pop(9, queue, &mut text).is_some() {}
            }
            prop_assert!(budget.is_whole());
        }
    }
}
