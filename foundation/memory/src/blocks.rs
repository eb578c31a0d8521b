//! Byte blocks of one size behind `u32` handles.

use crate::handles::Handles;
use crate::pool::{free_pages, is_in};
use crate::{Pool, Reserved};
use std::io;

/// A pool of byte blocks of one size, for what later stages must keep: segments out of order,
/// bytes before the verdict.
///
/// Handles behave as those of a [`crate::Slab`]; a block's bytes are whatever its last user left.
///
/// ```
/// let mut pool = flowpin_memory::BlockPool::new(256, 1000)?;
/// let block = pool.take().unwrap();
/// pool.bytes_mut(block)[..5].copy_from_slice(b"hello");
/// assert_eq!(&pool.bytes(block)[..5], b"hello");
/// pool.put_back(block);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct BlockPool {
    bytes: Reserved<u8>,
    block_bytes: usize,
    handles: Handles,
    #[cfg(flowpin_bench)]
    apart: Option<crate::apart::Apart>,
}

impl BlockPool {
    /// `count` blocks of `block_bytes` each, rounded up to a power of two from 32 to
    /// 16 KiB; each of a line or more begins at one. Address space is reserved as they come.
    ///
    /// # Errors
    ///
    /// If so many do not fit any address space.
    pub fn new(block_bytes: usize, count: u32) -> io::Result<Self> {
        let block_bytes = block_bytes
            .clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX)
            .next_power_of_two();
        let mut bytes = Reserved::growing(start(count, block_bytes))?;
        bytes.prefer_huge_pages_when_large();
        #[cfg(flowpin_bench)]
        let apart = crate::apart::Apart::new(layout(block_bytes), count)?;
        // The table has addresses, which growing would change.
        #[cfg(flowpin_bench)]
        if apart.is_some() {
            bytes.reach(usize::MAX);
        }
        Ok(Self {
            bytes,
            block_bytes,
            handles: Handles::new(count)?,
            #[cfg(flowpin_bench)]
            apart,
        })
    }

    /// A free block, the one returned last first; `None` if all are in use.
    #[inline]
    pub fn take(&mut self) -> Option<u32> {
        let (bytes, block_bytes) = (&mut self.bytes, self.block_bytes);
        let block = self.handles.take(|room| {
            // No more blocks than were asked for.
            let blocks = u32::try_from(room).unwrap_or(u32::MAX);
            bytes.reach(start(blocks, block_bytes));
        })?;
        #[cfg(flowpin_bench)]
        if let Some(apart) = &mut self.apart {
            let own = self.bytes.place(start(block, self.block_bytes))?;
            apart.make(block, own);
        }
        Some(block)
    }

    /// Returns a block. A handle that was never given out is ignored.
    #[inline]
    pub fn put_back(&mut self, block: u32) {
        #[cfg(flowpin_bench)]
        if let Some(apart) = &mut self.apart {
            apart.free(block);
        }
        self.handles.put_back(block);
    }

    /// A block's bytes; empty for a handle beyond the pool.
    #[inline]
    pub fn bytes(&self, block: u32) -> &[u8] {
        #[cfg(flowpin_bench)]
        if let Some(apart) = &self.apart {
            return apart.bytes(block);
        }
        let start = start(block, self.block_bytes);
        self.bytes
            .get(start..start + self.block_bytes)
            .unwrap_or_default()
    }

    /// A block's bytes, to write; empty for a handle beyond the pool.
    #[inline]
    pub fn bytes_mut(&mut self, block: u32) -> &mut [u8] {
        #[cfg(flowpin_bench)]
        if let Some(apart) = &mut self.apart {
            return apart.bytes_mut(block);
        }
        let start = start(block, self.block_bytes);
        self.bytes
            .get_mut(start..start + self.block_bytes)
            .unwrap_or_default()
    }

    /// Asks the processor to fetch a block's first line. Any handle is fine.
    #[inline]
    pub fn prefetch(&self, block: u32) {
        #[cfg(flowpin_bench)]
        if let Some(apart) = &self.apart {
            return apart.prefetch(block);
        }
        self.bytes.prefetch(start(block, self.block_bytes));
    }

    /// Asks for huge pages: fewer TLB misses in a large pool, but 2 MiB resident at a time.
    ///
    /// # Errors
    ///
    /// Where the system has none; the pool works all the same.
    pub fn prefer_huge_pages(&mut self) -> io::Result<()> {
        self.bytes.prefer_huge_pages()
    }

    /// Bytes of one block.
    #[inline]
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    fn starts_at(&self, block: u32) -> usize {
        start(block, self.block_bytes)
    }

    /// Blocks in use.
    #[inline]
    pub fn len(&self) -> u32 {
        self.handles.in_use()
    }

    /// Whether no block is in use.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The most blocks that can be in use.
    #[inline]
    pub fn capacity(&self) -> u32 {
        self.handles.capacity()
    }

    /// The most blocks that were ever in use at once.
    #[inline]
    pub fn high_water(&self) -> u32 {
        self.handles.high_water()
    }
}

impl Pool for BlockPool {
    fn touched_bytes(&self) -> u64 {
        u64::from(self.handles.touched()) * (self.block_bytes as u64 + 4)
    }

    fn trim(&mut self) {
        // Its bytes are apart, for comparison.
        #[cfg(flowpin_bench)]
        if self.apart.is_some() {
            return;
        }
        let end = self.starts_at(self.high_water());
        let Ok(free) = self.handles.shrink() else {
            return;
        };
        let below = self.high_water();
        let mut runs = free_pages(&free, below, |block| self.starts_at(block));
        let behind = self.starts_at(below)..end;
        for run in runs.iter().cloned().chain(core::iter::once(behind)) {
            if self.bytes.discard(run).is_err() {
                return;
            }
        }
        runs.retain(|run| !run.is_empty());
        let block_bytes = self.block_bytes;
        self.handles
            .set_cold(|block| is_in(&runs, start(block, block_bytes)));
    }
}

#[cfg(flowpin_bench)]
impl Drop for BlockPool {
    fn drop(&mut self) {
        let high_water = self.handles.high_water();
        if let Some(apart) = &mut self.apart {
            apart.clear(high_water);
        }
    }
}

#[cfg(flowpin_bench)]
fn layout(block_bytes: usize) -> core::alloc::Layout {
    // As `malloc` aligns: a power of two from 32 to 2048 is a size of any such alignment.
    core::alloc::Layout::from_size_align(block_bytes, 16)
        .unwrap_or(core::alloc::Layout::new::<()>())
}

/// Where a block begins. After every 8 KiB of blocks a line is left out: otherwise the first lines
/// of 512-byte blocks would all fall into one in eight of a cache's sets, those of 2 KiB into one
/// in 32. It costs 0.8 % of the room, and some blocks lie on two pages.
// PERF: take, write the first line, give back, 65,536 alive, random lifetimes, ns (virtual EPYC,
// Zen 5, `flowpin bench memory`): 256 bytes 8.5 -> 5.6, 512 14.0 -> 7.9, 2048 18.9 -> 10.3; the
// same as before below.
#[inline]
const fn start(block: u32, block_bytes: usize) -> usize {
    let before = (block as usize).saturating_mul(block_bytes);
    before.saturating_add(before / COLOUR_BYTES * LINE_BYTES)
}

const COLOUR_BYTES: usize = 8 << 10;
const LINE_BYTES: usize = 64;
const BLOCK_BYTES_MIN: usize = 32;
const BLOCK_BYTES_MAX: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::{BlockPool, LINE_BYTES, start};

    /// Two blocks in use never share a byte, for any size.
    #[test]
    fn blocks_do_not_overlap() {
        for asked in [0, 32, 33, 64, 200, 512, 2048, 9000, 16_384] {
            let mut pool = BlockPool::new(asked, 50).unwrap();
            let blocks: Vec<u32> = (0..50).map(|_| pool.take().unwrap()).collect();
            assert_eq!(pool.take(), None);
            for &block in &blocks {
                pool.bytes_mut(block).fill(u8::try_from(block).unwrap());
            }
            for &block in &blocks {
                assert_eq!(pool.bytes(block).len(), pool.block_bytes());
                assert!(
                    pool.bytes(block)
                        .iter()
                        .all(|&byte| u32::from(byte) == block)
                );
            }
        }
    }

    /// First lines shall use all sets of a cache, whatever the size of blocks: of 4096 sets, each
    /// about as often as any other.
    #[test]
    fn first_lines_use_all_sets() {
        for block_bytes in [32usize, 64, 128, 256, 512, 1024, 2048] {
            let mut uses = vec![0u32; 4096];
            for block in 0..1 << 16 {
                uses[start(block, block_bytes) / LINE_BYTES % 4096] += 1;
            }
            assert!(
                uses.iter().all(|&uses| uses <= 32),
                "{block_bytes}: {uses:?}"
            );
            assert!(
                uses.iter().all(|&uses| uses >= 8),
                "{block_bytes}: {uses:?}"
            );
        }
    }

    /// The block whose lines are still in the cache comes first.
    #[test]
    fn the_block_returned_last_comes_first() {
        let mut pool = BlockPool::new(64, 10).unwrap();
        let blocks: Vec<u32> = (0..3).map(|_| pool.take().unwrap()).collect();
        pool.put_back(blocks[0]);
        pool.put_back(blocks[2]);
        assert_eq!(
            (pool.take(), pool.take()),
            (Some(blocks[2]), Some(blocks[0]))
        );
        assert_eq!((pool.len(), pool.high_water()), (3, 3));
        assert!(pool.bytes(u32::MAX).is_empty());
        pool.prefetch(u32::MAX);
    }
}
