//! Byte strings that parsers keep, charged to the memory of their shards.

use flowpin_memory::{Budget, Chain, Chains, Pool};
use flowpin_packet::SHARD_COUNT;
use std::io;

/// What connections keep of their bytes: strings that grow in blocks of one size.
///
/// Each block is charged to the budget of its shard until the string is released.
///
/// ```
/// use flowpin_memory::{Budget, Chain};
/// use flowpin_parser::KeptBytes;
///
/// let budget = Budget::new(1 << 20);
/// let mut kept = KeptBytes::new(&budget, 64)?;
/// let mut name = Chain::default();
/// assert!(kept.append(7, &mut name, b"example") && kept.append(7, &mut name, b".org"));
/// let mut text = Vec::new();
/// kept.read(&name, &mut text);
/// assert_eq!(text, b"example.org");
/// assert_eq!(budget.left(7), (1 << 20) - kept.cost(text.len()));
/// kept.release(7, &mut name);
/// assert!(budget.is_whole());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct KeptBytes {
    chains: Chains,
    budget: Budget,
    block_bytes: usize,
}

impl KeptBytes {
    /// Reserves address space for all that the budget allows; `block_bytes` is a power of two from
    /// 32 to 2048.
    ///
    /// # Errors
    /// If the system refuses the address space.
    pub fn new(budget: &Budget, block_bytes: usize) -> io::Result<Self> {
        let quota = budget.capacity_of(block_cost(block_bytes), 1);
        let all = budget.capacity_of(block_cost(block_bytes), SHARDS);
        Ok(Self {
            // More than 2^32 blocks in all cannot be numbered.
            chains: Chains::new(block_bytes, quota.min(all / SHARDS), SHARD_COUNT)?,
            budget: budget.clone(),
            block_bytes,
        })
    }

    /// The pool of its blocks.
    pub fn pool(&mut self) -> &mut dyn Pool {
        &mut self.chains
    }

    /// Appends bytes to a string; false, and nothing is appended, if its shard has no memory left.
    #[must_use]
    pub fn append(&mut self, shard: u8, to: &mut Chain, bytes: &[u8]) -> bool {
        let (before, after) = (to.len(), to.len().saturating_add(bytes.len()));
        let more = self.cost(after).saturating_sub(self.cost(before));
        if !self.budget.take(shard, more) {
            return false;
        }
        let is_kept = self.chains.append(usize::from(shard), to, bytes);
        if !is_kept {
            self.budget.give_back(shard, more);
        }
        is_kept
    }

    /// Appends a string's bytes to `out`.
    pub fn read(&self, kept: &Chain, out: &mut Vec<u8>) {
        self.chains.read(kept, out);
    }

    /// Gives the memory of a string back; it is empty afterwards.
    #[inline]
    pub fn release(&mut self, shard: u8, kept: &mut Chain) {
        if !kept.is_empty() {
            self.budget.give_back(shard, self.cost(kept.len()));
            self.chains.release(usize::from(shard), kept);
        }
    }

    /// Replaces a string by other bytes; without memory for them it is empty, and false is returned.
    pub fn replace(&mut self, shard: u8, kept: &mut Chain, bytes: &[u8]) -> bool {
        self.release(shard, kept);
        self.append(shard, kept, bytes)
    }

    /// What a string of `len` bytes takes of its shard's memory.
    #[inline]
    pub const fn cost(&self, len: usize) -> u64 {
        (len.div_ceil(self.block_bytes) as u64).saturating_mul(block_cost(self.block_bytes))
    }
}

/// What a value in a [`Slab`](flowpin_memory::Slab) takes: its slot, and its place in the list of
/// free ones. A parser with one slab of connections has this as its
/// [`CONNECTION_BYTES`](crate::Parser::CONNECTION_BYTES).
pub const fn slot_bytes<T>() -> u32 {
    let bytes = size_of::<T>() + size_of::<u32>();
    assert!(bytes < 1 << 20, "a slot is small");
    bytes as u32
}

/// A block, the link to the next one and its place in the list of free ones.
const fn block_cost(block_bytes: usize) -> u64 {
    (block_bytes as u64).saturating_add(8)
}

const SHARDS: u32 = 256;
