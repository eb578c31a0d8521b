//! The bytes before a verdict: pooled blocks, capped in each shard.
//!
//! Most searches that outlive a segment need little, so a direction begins with a small block and
//! moves to a large one when that is full.

use flowpin_memory::Slab;
use std::io;

/// Bytes of one direction that are looked at: a search ends there.
pub const STREAM_BYTES_MAX: usize = 4096;
const SMALL: usize = 1024;

/// Which block holds a direction's bytes, and how many there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    /// The block's handle, plus one; 0: none.
    block: u32,
    len: u16,
    is_large: bool,
}

impl Kept {
    /// How many bytes there are.
    pub(crate) const fn len(self) -> usize {
        self.len as usize
    }
}

impl Kept {
    pub(crate) const NONE: Self = Self {
        block: 0,
        len: 0,
        is_large: false,
    };
}

/// The blocks of one worker.
#[derive(Debug)]
pub(crate) struct Blocks {
    small: Slab<[u8; SMALL]>,
    large: Slab<[u8; STREAM_BYTES_MAX]>,
    /// By shard: bytes in blocks.
    used: Box<[u32; 256]>,
    shard_bytes_max: u32,
}

impl Blocks {
    pub(crate) fn new(shard_bytes_max: u32) -> io::Result<Self> {
        let count = |block: usize| {
            let whole = usize::try_from(shard_bytes_max).unwrap_or(usize::MAX);
            let each = whole.checked_div(block).unwrap_or(0);
            u32::try_from(each.saturating_mul(256)).unwrap_or(u32::MAX - 1)
        };
        Ok(Self {
            small: Slab::with_capacity(count(SMALL))?,
            large: Slab::with_capacity(count(STREAM_BYTES_MAX))?,
            used: Box::new([0; 256]),
            shard_bytes_max,
        })
    }

    pub(crate) fn bytes(&self, kept: Kept) -> &[u8] {
        let Some(block) = kept.block.checked_sub(1) else {
            return &[];
        };
        let whole: Option<&[u8]> = if kept.is_large {
            self.large
                .get(block)
                .map(<[u8; STREAM_BYTES_MAX]>::as_slice)
        } else {
            self.small.get(block).map(<[u8; SMALL]>::as_slice)
        };
        whole
            .and_then(|bytes| bytes.get(..usize::from(kept.len)))
            .unwrap_or_default()
    }

    /// Whether a shard has used no more than half of what it may.
    pub(crate) fn is_half_free(&self, shard: u8) -> bool {
        let used = self.used.get(usize::from(shard)).copied();
        used.is_some_and(|used| used <= self.shard_bytes_max / 2)
    }

    /// Appends as much as the limit allows and returns how much; none if there is no memory.
    pub(crate) fn append(&mut self, kept: &mut Kept, shard: u8, bytes: &[u8]) -> Option<usize> {
        let len = usize::from(kept.len);
        let room = STREAM_BYTES_MAX.saturating_sub(len);
        let bytes = bytes.get(..room).unwrap_or(bytes);
        let end = len.saturating_add(bytes.len());
        if kept.block == 0 || (!kept.is_large && end > SMALL) {
            self.move_to(kept, shard, end > SMALL)?;
        }
        let block = kept.block.checked_sub(1)?;
        let whole: &mut [u8] = if kept.is_large {
            self.large.get_mut(block)?
        } else {
            self.small.get_mut(block)?
        };
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
    fn move_to(&mut self, kept: &mut Kept, shard: u8, is_large: bool) -> Option<()> {
        let size = if is_large { STREAM_BYTES_MAX } else { SMALL };
        let used = self.used.get_mut(usize::from(shard))?;
        let after = used.checked_add(u32::try_from(size).ok()?)?;
        if after > self.shard_bytes_max {
            return None;
        }
        let block = if is_large {
            let block = self.large.take()?;
            let old = kept.block.checked_sub(1);
            if let Some(old) = old.and_then(|old| self.small.get(old)) {
                let start = self.large.get_mut(block)?.get_mut(..SMALL)?;
                start.copy_from_slice(old);
            }
            block
        } else {
            self.small.take()?
        };
        *used = after;
        let len = kept.len;
        self.free(kept, shard);
        *kept = Kept {
            block: block.checked_add(1)?,
            len,
            is_large,
        };
        Some(())
    }

    pub(crate) fn free(&mut self, kept: &mut Kept, shard: u8) {
        if let Some(block) = kept.block.checked_sub(1) {
            let size = if kept.is_large {
                self.large.remove(block);
                STREAM_BYTES_MAX
            } else {
                self.small.remove(block);
                SMALL
            };
            if let Some(used) = self.used.get_mut(usize::from(shard)) {
                *used = used.saturating_sub(u32::try_from(size).unwrap_or(u32::MAX));
            }
        }
        *kept = Kept::default();
    }
}
