//! Memory for texts: so many bytes in each shard, whatever connection holds them.

use flowpin_counters::{Loss, Losses};
use flowpin_packet::SHARD_COUNT;

/// What is left in each shard.
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

    /// Appends bytes to a text; false, and counted, if there is no room for them.
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

    /// Takes bytes for something else than a text; false, and nothing is taken, without room.
    pub(crate) fn take(&mut self, shard: u8, bytes: u32) -> bool {
        let left = self.left.get_mut(usize::from(shard));
        let less = left.and_then(|left| Some((left.checked_sub(bytes)?, left)));
        less.map(|(less, left)| *left = less).is_some()
    }

    /// Gives back what was taken.
    pub(crate) fn give_back(&mut self, shard: u8, bytes: u32) {
        if let Some(left) = self.left.get_mut(usize::from(shard)) {
            *left = left.saturating_add(bytes);
        }
    }

    /// Empties a text.
    pub(crate) fn clear(&mut self, shard: u8, text: &mut Vec<u8>) {
        self.give_back(shard, u32::try_from(text.len()).unwrap_or(u32::MAX));
        text.clear();
    }

    /// Whether every shard has all of its bytes.
    pub(crate) fn is_whole(&self, shard_bytes: u32) -> bool {
        self.left.iter().all(|&left| left == shard_bytes)
    }

    /// Puts other bytes in the place of a text, at most so many of them.
    pub(crate) fn replace(&mut self, shard: u8, text: &mut Vec<u8>, bytes: &[u8], most: usize) {
        self.clear(shard, text);
        self.append(shard, text, bytes.get(..most).unwrap_or(bytes));
    }
}
