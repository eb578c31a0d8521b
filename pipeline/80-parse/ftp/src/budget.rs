//! The memory budget for texts: a number of bytes per shard, shared by its connections.

use flowpin_counters::{Loss, Losses};
use flowpin_packet::SHARD_COUNT;

/// The bytes left in each shard.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Box<[u32; SHARD_COUNT]>,
    pub(crate) losses: Losses,
}

impl Budget {
    pub(crate) fn new(shard_bytes: u32) -> Self {
        Self {
            left: Box::new([shard_bytes; SHARD_COUNT]),
            losses: Losses::default(),
        }
    }

    /// Appends bytes to a text; without room, returns false and counts the loss.
    pub(crate) fn append(&mut self, shard: u8, to: &mut Vec<u8>, bytes: &[u8]) -> bool {
        let left = self.left.get_mut(usize::from(shard));
        let less = left.zip(u32::try_from(bytes.len()).ok());
        let Some((left, len)) = less.filter(|(left, len)| *len <= **left) else {
            self.losses.count(Loss::FtpText, 1);
            return false;
        };
        *left = left.saturating_sub(len);
        to.extend_from_slice(bytes);
        true
    }

    /// Takes bytes for a purpose other than a text; without room, takes none and returns false.
    pub(crate) fn take(&mut self, shard: u8, bytes: u32) -> bool {
        let left = self.left.get_mut(usize::from(shard));
        let less = left.and_then(|left| Some((left.checked_sub(bytes)?, left)));
        less.map(|(less, left)| *left = less).is_some()
    }

    /// Returns bytes to the budget.
    pub(crate) fn give_back(&mut self, shard: u8, bytes: u32) {
        if let Some(left) = self.left.get_mut(usize::from(shard)) {
            *left = left.saturating_add(bytes);
        }
    }

    /// Clears a text.
    pub(crate) fn clear(&mut self, shard: u8, text: &mut Vec<u8>) {
        self.give_back(shard, u32::try_from(text.len()).unwrap_or(u32::MAX));
        text.clear();
    }

    /// Whether all bytes of every shard are free.
    pub(crate) fn is_whole(&self, shard_bytes: u32) -> bool {
        self.left.iter().all(|&left| left == shard_bytes)
    }

    /// Replaces a text by the first bytes of another, at most `most` of them.
    pub(crate) fn replace(&mut self, shard: u8, text: &mut Vec<u8>, bytes: &[u8], most: usize) {
        self.clear(shard, text);
        self.append(shard, text, bytes.get(..most).unwrap_or(bytes));
    }
}
