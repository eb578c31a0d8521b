//! Blocks of three sizes, so that small segments do not fill large blocks.

use super::tree::Piece;
use flowpin_memory::BlockPool;
use std::io;

/// Where a piece's bytes lie: the pool in the top bits, the block below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block(u32);

const SIZES: [usize; 3] = [128, 512, 2048];

/// The most bytes of a piece.
pub(crate) const PIECE_BYTES_MAX: usize = 2048;

/// What a piece of `len` bytes costs: its block and its node.
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

/// A node, and the places of node and block in the lists of free ones.
const PIECE_COST: u64 = size_of::<Piece>() as u64 + 8;

#[derive(Debug)]
pub(crate) struct Blocks {
    pools: [BlockPool; 3],
}

impl Blocks {
    /// `most` says how many of a cost there can be.
    pub(crate) fn new(most: &impl Fn(u64) -> u32) -> io::Result<Self> {
        let pool = |size| {
            let count = most(block_cost(size)).min(INDEX_MASK);
            BlockPool::new(size, count)
        };
        let [small, middle, large] = SIZES;
        Ok(Self {
            pools: [pool(small)?, pool(middle)?, pool(large)?],
        })
    }

    /// A block for `len` bytes.
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
    /// No block: one that no pool has.
    pub(crate) const NONE: Self = Self(u32::MAX);

    const fn class(self) -> usize {
        (self.0 >> INDEX_BITS) as usize
    }

    /// What the block and its piece cost.
    pub(crate) fn cost(self) -> u64 {
        SIZES.get(self.class()).map_or(0, |&size| block_cost(size))
    }
}
