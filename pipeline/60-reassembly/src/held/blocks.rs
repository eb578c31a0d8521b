//! Blocks of three sizes, so that small segments do not fill large blocks.

use super::tree::Piece;
use flowpin_memory::{BlockPool, Budget, Pool};
use std::io;

/// The location of a piece's bytes: the pool in the top bits, the block below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block(u32);

const SIZES: [usize; 3] = [128, 512, 2048];

/// Most bytes of a piece.
pub(crate) const PIECE_BYTES_MAX: usize = 2048;

/// The cost of a piece of `len` bytes, in the smallest block that holds it.
pub(crate) const fn block_cost(len: usize) -> u64 {
    let block = if len <= 128 {
        128
    } else if len <= 512 {
        512
    } else {
        2048
    };
    PIECE_COST.saturating_add(block)
}

/// A node, and the places of node and block in the free lists.
const PIECE_COST: u64 = size_of::<Piece>() as u64 + 8;

/// The cost of a segment of `len` bytes: pieces of the greatest length, and one for the rest.
pub(super) const fn cost(len: usize) -> u64 {
    let whole = (len / PIECE_BYTES_MAX) as u64;
    whole
        .saturating_mul(block_cost(PIECE_BYTES_MAX))
        .saturating_add(block_cost(len % PIECE_BYTES_MAX))
}

#[derive(Debug)]
pub(crate) struct Blocks {
    pools: [BlockPool; 3],
}

impl Blocks {
    /// Room for all that `shards` shards can hold.
    pub(crate) fn new(budget: &Budget, shards: u32) -> io::Result<Self> {
        let pool = |size: usize| {
            let count = budget.capacity_of(block_cost(size), shards);
            BlockPool::new(size, count.min(INDEX_MASK))
        };
        let [small, middle, large] = SIZES;
        Ok(Self {
            pools: [pool(small)?, pool(middle)?, pool(large)?],
        })
    }

    pub(super) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        for pool in &mut self.pools {
            visit(pool);
        }
    }

    /// The smallest block that holds `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> Option<Block> {
        let class = SIZES.iter().position(|&size| len <= size)?;
        let index = self.pools.get_mut(class)?.take()?;
        let class = u32::try_from(class).ok()?;
        Some(Block(class << INDEX_BITS | index))
    }

    pub(crate) fn put_back(&mut self, block: Block) {
        if let Some(pool) = self.pools.get_mut(block.class()) {
            pool.put_back(block.0 & INDEX_MASK);
        }
    }

    pub(crate) fn bytes(&self, block: Block) -> &[u8] {
        self.pools
            .get(block.class())
            .map_or(&[], |pool| pool.bytes(block.0 & INDEX_MASK))
    }

    pub(crate) fn bytes_mut(&mut self, block: Block) -> &mut [u8] {
        self.pools
            .get_mut(block.class())
            .map_or(&mut [], |pool| pool.bytes_mut(block.0 & INDEX_MASK))
    }
}

const INDEX_BITS: u32 = 30;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;

impl Block {
    /// No block: its pool does not exist.
    pub(crate) const NONE: Self = Self(u32::MAX);

    pub(super) const fn class(self) -> usize {
        (self.0 >> INDEX_BITS) as usize
    }

    /// The cost of the block and its piece.
    pub(crate) fn cost(self) -> u64 {
        SIZES.get(self.class()).map_or(0, |&size| block_cost(size))
    }
}
