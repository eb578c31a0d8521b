//! The bytes before a verdict: pooled blocks, capped in each shard.
//!
//! Most directions that outlive a segment need little: each begins with the smallest block that
//! its bytes fit into and moves to the next when that is full.

use flowpin_memory::{BlockPool, Budget, Part, Pool};
use std::io;

/// Bytes of one direction that are looked at: a search ends there.
pub const STREAM_BYTES_MAX: usize = 4096;
// PERF: most requests and short messages fit into the smallest. Where tens of thousands of
// connections wait for their servers' words, pages that are never touched are never cleared.
/// A call keeps bytes of one direction; while they move to a larger block, they have both.
const CALL_BYTES: u64 = 2 * STREAM_BYTES_MAX as u64;
/// Of one worker at most.
pub(crate) const SHARDS: u32 = 256;

/// Which block holds a direction's bytes, and how many there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    /// The block's handle, plus one; 0: none.
    block: u32,
    len: u16,
    /// The place of the block's size in [`SIZES`].
    size: u8,
}

impl Kept {
    pub(crate) const NONE: Self = Self {
        block: 0,
        len: 0,
        size: 0,
    };

    /// How many bytes there are.
    pub(crate) const fn len(self) -> usize {
        self.len as usize
    }
}

/// How large blocks are. The smallest hold most requests and short messages.
// PERF: where tens of thousands of connections wait for their servers' words, pages that are never
// touched are never cleared.
const SIZES: [usize; 4] = [128, 512, 1536, STREAM_BYTES_MAX];

/// The blocks of one worker.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// By size.
    pools: [BlockPool; SIZES.len()],
    usage: Part,
}

impl Blocks {
    /// Blocks that take at most `shard_bytes_max` of each shard.
    pub(crate) fn new(budget: &Budget, shard_bytes_max: u64) -> io::Result<Self> {
        let pool = |size: usize| {
            let count = budget.capacity_of(size as u64, SHARDS);
            BlockPool::new(size, count)
        };
        let [least, small, middle, large] = SIZES;
        Ok(Self {
            pools: [pool(least)?, pool(small)?, pool(middle)?, pool(large)?],
            usage: Part::new(budget.clone(), shard_bytes_max),
        })
    }

    pub(crate) fn bytes(&self, kept: Kept) -> &[u8] {
        let pool = self.pools.get(usize::from(kept.size));
        let (Some(block), Some(pool)) = (kept.block.checked_sub(1), pool) else {
            return &[];
        };
        let whole = pool.bytes(block);
        whole.get(..usize::from(kept.len)).unwrap_or_default()
    }

    /// The pools of all blocks.
    pub(crate) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        for pool in &mut self.pools {
            visit(pool);
        }
    }

    /// Whether a shard has used no more than half of what it may.
    pub(crate) fn is_half_free(&self, shard: u8) -> bool {
        self.usage.used(shard) <= self.usage.most() / 2
    }

    /// Whether a shard has room for all that one call may keep.
    pub(crate) fn has_room(&self, shard: u8) -> bool {
        self.usage.has_room(shard, CALL_BYTES)
    }

    /// Appends as much as the limit allows and returns how much; none if there is no memory.
    pub(crate) fn append(&mut self, kept: &mut Kept, shard: u8, bytes: &[u8]) -> Option<usize> {
        let len = usize::from(kept.len);
        let room = STREAM_BYTES_MAX.saturating_sub(len);
        let bytes = bytes.get(..room).unwrap_or(bytes);
        let end = len.saturating_add(bytes.len());
        let size = SIZES.iter().position(|&size| end <= size)?;
        if kept.block == 0 || size > usize::from(kept.size) {
            self.move_to(kept, shard, size)?;
        }
        let block = kept.block.checked_sub(1)?;
        let pool = self.pools.get_mut(usize::from(kept.size))?;
        pool.bytes_mut(block)
            .get_mut(len..end)?
            .copy_from_slice(bytes);
        kept.len = u16::try_from(end).ok()?;
        Some(bytes.len())
    }

    /// Appends both parts, or nothing.
    pub(crate) fn append_both(
        &mut self,
        kept: &mut Kept,
        shard: u8,
        parts: [&[u8]; 2],
    ) -> Option<()> {
        let before = kept.len;
        for part in parts {
            if self.append(kept, shard, part) != Some(part.len()) {
                kept.len = before;
                return None;
            }
        }
        Some(())
    }

    /// Moves the bytes to a block of a larger size.
    fn move_to(&mut self, kept: &mut Kept, shard: u8, size: usize) -> Option<()> {
        let bytes = *SIZES.get(size)? as u64;
        if !self.usage.take(shard, bytes) {
            return None;
        }
        let (smaller, larger) = self.pools.split_at_mut_checked(size)?;
        let larger = larger.first_mut()?;
        let Some(block) = larger.take() else {
            self.usage.give_back(shard, bytes);
            return None;
        };
        let before = kept.block.checked_sub(1);
        if let (Some(before), Some(pool)) = (before, smaller.get(usize::from(kept.size))) {
            let len = usize::from(kept.len);
            let moved = pool.bytes(before).get(..len)?;
            larger
                .bytes_mut(block)
                .get_mut(..len)?
                .copy_from_slice(moved);
        }
        let len = kept.len;
        self.free(kept, shard);
        *kept = Kept {
            block: block.checked_add(1)?,
            len,
            size: u8::try_from(size).ok()?,
        };
        Some(())
    }

    pub(crate) fn free(&mut self, kept: &mut Kept, shard: u8) {
        let size = usize::from(kept.size);
        if let (Some(block), Some(pool)) = (kept.block.checked_sub(1), self.pools.get_mut(size)) {
            pool.put_back(block);
            self.usage
                .give_back(shard, SIZES.get(size).map_or(0, |&bytes| bytes as u64));
        }
        *kept = Kept::default();
    }
}
