//! Blocks for handshake messages that arrive in parts, charged to the budgets of their shards.

use flowpin_memory::{Budget, Pool, Slab};
use flowpin_parser::slot_bytes;
use std::io;

/// Maximum stored length of a handshake message: hellos are far shorter, and of a longer
/// certificate chain the first certificate is sufficient.
pub(crate) const MESSAGE_BYTES_MAX: usize = 16 << 10;

/// Most hellos in parts fit.
const SHORT_BYTES: usize = 2 << 10;

/// The blocks of one worker, in two sizes.
#[derive(Debug)]
pub(crate) struct Blocks {
    short: Slab<[u8; SHORT_BYTES]>,
    long: Slab<[u8; MESSAGE_BYTES_MAX]>,
    budget: Budget,
    /// Parts of messages that were refused for lack of memory.
    refused: u64,
}

const SHORT_COST: u64 = slot_bytes::<[u8; SHORT_BYTES]>() as u64;
const LONG_COST: u64 = slot_bytes::<[u8; MESSAGE_BYTES_MAX]>() as u64;

impl Blocks {
    pub(crate) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.short);
        visit(&mut self.long);
    }

    /// Reserves room for all that the budget allows.
    pub(crate) fn new(budget: &Budget) -> io::Result<Self> {
        Ok(Self {
            short: Slab::with_capacity(budget.capacity_of(SHORT_COST, 256))?,
            long: Slab::with_capacity(budget.capacity_of(LONG_COST, 256))?,
            budget: budget.clone(),
            refused: 0,
        })
    }

    pub(crate) const fn refused(&self) -> u64 {
        self.refused
    }

    /// Takes a block that holds `len` bytes. It may contain the bytes of an earlier message: only
    /// those written since are read.
    fn take(&mut self, shard: u8, len: usize) -> Option<Block> {
        let is_short = len <= SHORT_BYTES;
        let cost = if is_short { SHORT_COST } else { LONG_COST };
        if !self.budget.take(shard, cost) {
            self.refused = self.refused.saturating_add(1);
            return None;
        }
        let block = match is_short {
            true => self.short.take().map(Block::Short),
            false => self.long.take().map(Block::Long),
        };
        if block.is_none() {
            self.budget.give_back(shard, cost);
        }
        block
    }

    fn bytes(&self, block: Block) -> &[u8] {
        let bytes = match block {
            Block::Short(handle) => self.short.get(handle).map(<[u8; _]>::as_slice),
            Block::Long(handle) => self.long.get(handle).map(<[u8; _]>::as_slice),
        };
        bytes.unwrap_or_default()
    }

    fn bytes_mut(&mut self, block: Block) -> &mut [u8] {
        let bytes = match block {
            Block::Short(handle) => self.short.get_mut(handle).map(<[u8; _]>::as_mut_slice),
            Block::Long(handle) => self.long.get_mut(handle).map(<[u8; _]>::as_mut_slice),
        };
        bytes.unwrap_or_default()
    }

    /// Moves a message to a block that holds `len` bytes; none, and nothing changes, if there is
    /// no memory for it.
    fn enlarge(&mut self, shard: u8, block: Block, len: usize) -> Option<Block> {
        let Block::Short(short) = block else {
            // Nothing is longer.
            return Some(block);
        };
        if len <= SHORT_BYTES {
            return Some(block);
        }
        let long = self.take(shard, len)?;
        if let (Some(from), Block::Long(handle)) = (self.short.get(short), long)
            && let Some(to) = self.long.get_mut(handle)
            && let Some(to) = to.first_chunk_mut()
        {
            *to = *from;
        }
        self.free(shard, block);
        Some(long)
    }

    fn free(&mut self, shard: u8, block: Block) {
        match block {
            Block::Short(handle) => {
                self.short.remove(handle);
                self.budget.give_back(shard, SHORT_COST);
            }
            Block::Long(handle) => {
                self.long.remove(handle);
                self.budget.give_back(shard, LONG_COST);
            }
        }
    }
}

/// A block, by its handle.
#[derive(Clone, Copy, Debug)]
enum Block {
    Short(u32),
    Long(u32),
}

/// A message in parts: the block of its bytes, if it has one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gathered(Option<Block>);

impl Gathered {
    /// Writes bytes at an offset; returns whether there was room.
    pub(crate) fn put(&mut self, blocks: &mut Blocks, shard: u8, at: usize, bytes: &[u8]) -> bool {
        let end = at.saturating_add(bytes.len());
        let block = match self.0 {
            Some(block) => blocks.enlarge(shard, block, end),
            None => blocks.take(shard, end),
        };
        let Some(block) = block else {
            return false;
        };
        self.0 = Some(block);
        let room = blocks.bytes_mut(block).get_mut(at..end);
        room.map(|room| room.copy_from_slice(bytes)).is_some()
    }

    /// Returns the first `len` bytes.
    pub(crate) fn bytes(self, blocks: &Blocks, len: usize) -> &[u8] {
        let bytes = self.0.and_then(|block| blocks.bytes(block).get(..len));
        bytes.unwrap_or_default()
    }

    pub(crate) fn free(&mut self, blocks: &mut Blocks, shard: u8) {
        if let Some(block) = self.0.take() {
            blocks.free(shard, block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Blocks, Gathered};
    use flowpin_memory::Budget;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is written where, and in whichever order, is read again, unless it lies beyond
        /// the longest message.
        #[test]
        fn messages_are_what_was_written(
            parts in prop::collection::vec((0usize..17_000, 1usize..3000, any::<u8>()), 1..12),
        ) {
            let budget = Budget::new(1 << 16);
            let mut blocks = Blocks::new(&budget).unwrap();
            let mut message = Gathered::default();
            let mut model = vec![0u8; 0];
            // A block has bytes of earlier messages.
            message.put(&mut blocks, 1, 0, &[7; 16 << 10]);
            message.free(&mut blocks, 1);
            for (at, len, byte) in parts {
                let end = at + len;
                let is_kept = message.put(&mut blocks, 1, at, &vec![byte; len]);
                prop_assert_eq!(is_kept, end <= 16 << 10);
                if is_kept {
                    model.resize(model.len().max(end), 0);
                    model[at..end].fill(byte);
                    let all = message.bytes(&blocks, end);
                    prop_assert_eq!(&all[at..], &model[at..end]);
                }
            }
            message.free(&mut blocks, 1);
            prop_assert!(budget.is_whole());
        }
    }
}
