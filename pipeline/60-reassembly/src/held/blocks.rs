//! Blocks of three sizes, so that small segments do not fill large blocks, and each shard's part of
//! the memory for held bytes.
//!
//! A block that was used once stays resident. If each size could use all of the memory, three times
//! the memory could become resident, one size after the other. So each size has its own part; if
//! that is used up, a larger block takes the bytes.

use super::queue::QUEUE_BYTES;
use super::tree::Piece;
use flowpin_memory::{BlockPool, Reserved};
use flowpin_packet::SHARD_COUNT;
use std::io;

/// The location of a piece's bytes: the pool in the top bits, the block below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block(u32);

const SIZES: [usize; 3] = [128, 512, 2048];

/// Sixteenths of the memory for pieces of each size; the last is for queues.
const PARTS: [u64; 3] = [2, 2, 11];
const QUEUE_PARTS: u64 = 1;
const _: () = assert!(PARTS[0] + PARTS[1] + PARTS[2] + QUEUE_PARTS == 16);

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

/// How many of each kind: by block size, and queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    pieces: [u32; 3],
    queues: u32,
}

impl Amounts {
    /// What a shard may hold with this much memory.
    pub(crate) fn within(bytes: u64) -> Self {
        let most = |parts: u64, each: u64| {
            let bytes = (bytes >> 4).saturating_mul(parts);
            u32::try_from(bytes.checked_div(each).unwrap_or(0)).unwrap_or(u32::MAX)
        };
        let [small, middle, large] = PARTS;
        Self {
            pieces: [
                most(small, block_cost(128)),
                most(middle, block_cost(512)),
                most(large, block_cost(2048)),
            ],
            queues: most(QUEUE_PARTS, QUEUE_BYTES),
        }
    }

    /// Multiplied by `count`, as far as pools reach.
    pub(crate) fn times(self, count: u32) -> Self {
        let most = |each: u32| each.saturating_mul(count).min(INDEX_MASK >> 2);
        Self {
            pieces: self.pieces.map(most),
            queues: most(self.queues),
        }
    }

    /// Pieces of any size.
    pub(crate) fn all_pieces(&self) -> u32 {
        self.pieces
            .iter()
            .fold(0, |sum, &count| sum.saturating_add(count))
    }

    pub(crate) const fn queues(&self) -> u32 {
        self.queues
    }
}

/// What the shards have in use. Zero at first.
#[derive(Debug)]
pub(crate) struct Usage {
    /// Pieces by size, then queues; by shard.
    used: Reserved<[u32; 4]>,
    most: Amounts,
}

impl Usage {
    pub(crate) fn new(most: Amounts) -> io::Result<Self> {
        Ok(Self {
            used: Reserved::new(SHARD_COUNT)?,
            most,
        })
    }

    fn used(&self, shard: u8) -> [u32; 4] {
        self.used.get(usize::from(shard)).copied().unwrap_or([0; 4])
    }

    /// Whether a shard may hold a segment of this many bytes, and the queue of its stream.
    pub(crate) fn has_room(&self, shard: u8, len: usize) -> bool {
        let [small, middle, large, queues] = self.used(shard);
        let left = |class: usize, used: u32| {
            let most = self.most.pieces.get(class).copied().unwrap_or(0);
            most.saturating_sub(used)
        };
        let larger = left(2, large);
        let middle = larger.saturating_add(left(1, middle));
        let has_blocks = if len <= 128 {
            left(0, small) > 0 || middle > 0
        } else if len <= 512 {
            middle > 0
        } else {
            larger as usize > len.wrapping_sub(1) >> 11
        };
        has_blocks && queues < self.most.queues
    }

    /// The cost of a segment of this many bytes, in the blocks that the shard has left for it.
    pub(super) fn cost(&self, shard: u8, len: usize) -> u64 {
        let whole = (len >> 11) as u64;
        let used = self.used(shard);
        let all = SIZES.iter().zip(self.most.pieces).zip(used);
        let size = all
            .filter(|&((&size, most), used)| len <= size && used < most)
            .map(|((&size, _), _)| size)
            .next();
        let last = block_cost(size.unwrap_or(len.min(PIECE_BYTES_MAX)));
        whole
            .saturating_mul(block_cost(PIECE_BYTES_MAX))
            .saturating_add(last)
    }

    /// Charges a shard with a piece; returns its block size, or `None` if the shard has no room.
    pub(super) fn take_piece(&mut self, shard: u8, len: usize) -> Option<usize> {
        let used = self.used.get_mut(usize::from(shard))?;
        let all = SIZES.iter().zip(self.most.pieces).zip(used.iter_mut());
        for (class, ((&size, most), used)) in all.enumerate() {
            if len <= size && *used < most {
                *used = used.saturating_add(1);
                return Some(class);
            }
        }
        None
    }

    pub(super) fn give_back_piece(&mut self, shard: u8, class: usize) {
        let used = self.used.get_mut(usize::from(shard));
        if let Some(used) = used.and_then(|used| used.get_mut(class)) {
            *used = used.saturating_sub(1);
        }
    }

    /// Charges a shard with a queue; false if it has no room.
    pub(super) fn take_queue(&mut self, shard: u8) -> bool {
        match self.used.get_mut(usize::from(shard)) {
            Some([.., queues]) if *queues < self.most.queues => {
                *queues = queues.saturating_add(1);
                true
            }
            _ => false,
        }
    }

    pub(super) fn give_back_queue(&mut self, shard: u8) {
        if let Some([.., queues]) = self.used.get_mut(usize::from(shard)) {
            *queues = queues.saturating_sub(1);
        }
    }
}

#[derive(Debug)]
pub(crate) struct Blocks {
    pools: [BlockPool; 3],
}

impl Blocks {
    /// Room for `most`.
    pub(crate) fn new(most: &Amounts) -> io::Result<Self> {
        let [small, middle, large] = SIZES;
        let [smalls, middles, larges] = most.pieces;
        Ok(Self {
            pools: [
                BlockPool::new(small, smalls)?,
                BlockPool::new(middle, middles)?,
                BlockPool::new(large, larges)?,
            ],
        })
    }

    /// A block of a size.
    pub(crate) fn take(&mut self, class: usize) -> Option<Block> {
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

    /// Bytes that were ever in use, and so are resident.
    #[cfg(test)]
    pub(super) fn resident_bytes(&self) -> u64 {
        let sizes = self.pools.iter().map(|pool| {
            let each = pool.block_bytes() as u64 + 4;
            u64::from(pool.high_water()) * each
        });
        sizes.sum()
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
