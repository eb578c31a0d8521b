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
const SMALL: usize = 256;
const MIDDLE: usize = 1024;
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
    size: Size,
}

impl Kept {
    pub(crate) const NONE: Self = Self {
        block: 0,
        len: 0,
        size: Size::Small,
    };

    /// How many bytes there are.
    pub(crate) const fn len(self) -> usize {
        self.len as usize
    }
}

/// How large a block is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Size {
    #[default]
    Small,
    Middle,
    Large,
}

impl Size {
    /// The least block for so many bytes.
    const fn of(len: usize) -> Self {
        if len <= SMALL {
            Self::Small
        } else if len <= MIDDLE {
            Self::Middle
        } else {
            Self::Large
        }
    }

    const fn bytes(self) -> u32 {
        match self {
            Self::Small => 256,
            Self::Middle => 1024,
            Self::Large => 4096,
        }
    }
}

const _: () = assert!(
    Size::Small.bytes() as usize == SMALL
        && Size::Middle.bytes() as usize == MIDDLE
        && Size::Large.bytes() as usize == STREAM_BYTES_MAX
);

/// The blocks of one worker.
#[derive(Debug)]
pub(crate) struct Blocks {
    small: BlockPool,
    middle: BlockPool,
    large: BlockPool,
    usage: Part,
}

impl Blocks {
    /// Blocks that take at most `shard_bytes_max` of each shard.
    pub(crate) fn new(budget: &Budget, shard_bytes_max: u64) -> io::Result<Self> {
        let pool = |size: Size| {
            let count = budget.capacity_of(size.bytes().into(), SHARDS);
            BlockPool::new(size.bytes() as usize, count)
        };
        Ok(Self {
            small: pool(Size::Small)?,
            middle: pool(Size::Middle)?,
            large: pool(Size::Large)?,
            usage: Part::new(budget.clone(), shard_bytes_max),
        })
    }

    pub(crate) fn bytes(&self, kept: Kept) -> &[u8] {
        let Some(block) = kept.block.checked_sub(1) else {
            return &[];
        };
        let whole = self.pool(kept.size).bytes(block);
        whole.get(..usize::from(kept.len)).unwrap_or_default()
    }

    const fn pool(&self, size: Size) -> &BlockPool {
        match size {
            Size::Small => &self.small,
            Size::Middle => &self.middle,
            Size::Large => &self.large,
        }
    }

    const fn pool_mut(&mut self, size: Size) -> &mut BlockPool {
        match size {
            Size::Small => &mut self.small,
            Size::Middle => &mut self.middle,
            Size::Large => &mut self.large,
        }
    }

    /// The pools of all blocks.
    pub(crate) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        for pool in [&mut self.small, &mut self.middle, &mut self.large] {
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
        let size = Size::of(end);
        if kept.block == 0 || size > kept.size {
            self.move_to(kept, shard, size)?;
        }
        let block = kept.block.checked_sub(1)?;
        let whole = self.pool_mut(kept.size).bytes_mut(block);
        whole.get_mut(len..end)?.copy_from_slice(bytes);
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

    /// Takes a block of the wanted size and moves the bytes there.
    fn move_to(&mut self, kept: &mut Kept, shard: u8, size: Size) -> Option<()> {
        if !self.usage.take(shard, size.bytes().into()) {
            return None;
        }
        let Some(block) = self.pool_mut(size).take() else {
            self.usage.give_back(shard, size.bytes().into());
            return None;
        };
        let len = kept.len;
        self.copy(*kept, size, block);
        self.free(kept, shard);
        *kept = Kept {
            block: block.checked_add(1)?,
            len,
            size,
        };
        Some(())
    }

    /// Copies what is kept into a larger block.
    fn copy(&mut self, kept: Kept, size: Size, block: u32) {
        // By way of the stack: rare, and 1 KiB at most.
        let mut moved = [0; MIDDLE];
        let bytes = self.bytes(kept);
        let Some(moved) = moved.get_mut(..bytes.len()) else {
            return;
        };
        moved.copy_from_slice(bytes);
        let whole = self.pool_mut(size).bytes_mut(block);
        if let Some(start) = whole.get_mut(..moved.len()) {
            start.copy_from_slice(moved);
        }
    }

    pub(crate) fn free(&mut self, kept: &mut Kept, shard: u8) {
        if let Some(block) = kept.block.checked_sub(1) {
            self.pool_mut(kept.size).put_back(block);
            self.usage.give_back(shard, kept.size.bytes().into());
        }
        *kept = Kept::default();
    }
}
