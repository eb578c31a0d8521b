//! Bytes of no known length in pooled blocks, capped in each shard.

use flowpin_memory::BlockPool;
use std::io;

/// Bytes in blocks, each of which begins with the handle of the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chain {
    /// First and last block, plus one; 0: none.
    first: u32,
    last: u32,
    len: u32,
}

impl Chain {
    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The blocks of one worker.
#[derive(Debug)]
pub(crate) struct Texts {
    pool: BlockPool,
    used: Box<[u32; 256]>,
    shard_blocks_max: u32,
}

/// Most requests fit one.
const BLOCK: usize = 512;
/// Bytes of a list.
const LIST_MAX: u32 = 1 << 16;
const LINK: usize = size_of::<u32>();
const ROOM: u32 = 508;
const _: () = assert!(ROOM as usize + LINK == BLOCK);

impl Texts {
    pub(crate) fn new(shard_bytes_max: u32) -> io::Result<Self> {
        let shard_blocks_max = shard_bytes_max.div_ceil(512);
        Ok(Self {
            pool: BlockPool::new(BLOCK, shard_blocks_max.saturating_mul(256))?,
            used: Box::new([0; 256]),
            shard_blocks_max,
        })
    }

    /// Appends as much as there is room for, and returns how much.
    #[inline]
    pub(crate) fn append(&mut self, chain: &mut Chain, shard: u8, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while !rest.is_empty() {
            let filled = chain.len.checked_rem(ROOM).unwrap_or(0);
            if filled == 0 && !self.grow(chain, shard) {
                break;
            }
            let block = self.pool.bytes_mut(chain.last.wrapping_sub(1));
            let room = block
                .get_mut(LINK.wrapping_add(filled as usize)..)
                .unwrap_or_default();
            let count = room.len().min(rest.len());
            let Some((now, later)) = rest.split_at_checked(count) else {
                break;
            };
            if let Some(room) = room.get_mut(..count) {
                room.copy_from_slice(now);
            }
            // No more than a block's room.
            chain.len = chain.len.wrapping_add(u32::try_from(count).unwrap_or(0));
            rest = later;
        }
        bytes.len().wrapping_sub(rest.len())
    }

    /// Appends a list's item of several parts, with its length before it; false if there is no
    /// room for all of it: then none of it counts.
    pub(crate) fn append_item(&mut self, list: &mut Chain, shard: u8, parts: &[&[u8]]) -> bool {
        let len = parts
            .iter()
            .map(|part| part.len())
            .fold(0, usize::saturating_add);
        let Ok(len) = u16::try_from(len) else {
            return false;
        };
        if list.len().saturating_add(u32::from(len)) > LIST_MAX {
            return false;
        }
        let needed = u32::from(len).saturating_add(2);
        let room = ROOM.wrapping_sub(list.len.checked_rem(ROOM).unwrap_or(0)) % ROOM;
        let blocks = needed.saturating_sub(room).div_ceil(ROOM);
        let used = self.used.get(usize::from(shard)).copied().unwrap_or(0);
        if used.saturating_add(blocks) > self.shard_blocks_max {
            return false;
        }
        std::iter::once(len.to_le_bytes().as_slice())
            .chain(parts.iter().copied())
            .all(|part| self.append(list, shard, part) == part.len())
    }

    /// Adds a block; false if the shard has its most.
    fn grow(&mut self, chain: &mut Chain, shard: u8) -> bool {
        let Some(used) = self.used.get_mut(usize::from(shard)) else {
            return false;
        };
        if *used >= self.shard_blocks_max {
            return false;
        }
        let Some(block) = self.pool.take() else {
            return false;
        };
        *used = used.wrapping_add(1);
        if let Some(link) = self.pool.bytes_mut(block).first_chunk_mut::<LINK>() {
            *link = [0; LINK];
        }
        let block = block.wrapping_add(1);
        if chain.first == 0 {
            chain.first = block;
        } else if let Some(link) = self
            .pool
            .bytes_mut(chain.last.wrapping_sub(1))
            .first_chunk_mut::<LINK>()
        {
            *link = block.to_le_bytes();
        }
        chain.last = block;
        true
    }

    /// Gives all blocks back.
    #[inline]
    pub(crate) fn release(&mut self, chain: &mut Chain, shard: u8) {
        let mut block = chain.first;
        while block != 0 {
            let next = self.next(block);
            self.pool.put_back(block.wrapping_sub(1));
            if let Some(used) = self.used.get_mut(usize::from(shard)) {
                *used = used.wrapping_sub(1);
            }
            block = next;
        }
        *chain = Chain::default();
    }

    /// The bytes, if they lie in one block.
    #[inline]
    pub(crate) fn whole(&self, chain: &Chain) -> Option<&[u8]> {
        if chain.is_empty() {
            return Some(&[]);
        }
        let block = self.pool.bytes(chain.first.wrapping_sub(1));
        block.get(LINK..LINK.wrapping_add(chain.len as usize))
    }

    /// Appends the bytes to `out`.
    pub(crate) fn gather(&self, chain: &Chain, out: &mut Vec<u8>) {
        let mut block = chain.first;
        let mut left = chain.len as usize;
        while block != 0 && left > 0 {
            let bytes = self.pool.bytes(block.wrapping_sub(1));
            let room = bytes.get(LINK..).unwrap_or_default();
            let part = room.get(..left.min(room.len())).unwrap_or_default();
            out.extend_from_slice(part);
            left = left.saturating_sub(part.len());
            block = self.next(block);
        }
    }

    fn next(&self, block: u32) -> u32 {
        let bytes = self.pool.bytes(block.wrapping_sub(1));
        bytes
            .first_chunk::<LINK>()
            .map_or(0, |link| u32::from_le_bytes(*link))
    }

    /// Blocks in use.
    pub(crate) fn in_use(&self) -> u32 {
        self.pool.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{Chain, Texts};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Appended bytes come back, whatever their parts; no block stays in use.
        #[test]
        fn chains_give_back_what_was_appended(parts in prop::collection::vec(
            prop::collection::vec(any::<u8>(), 0..700), 0..8,
        )) {
            let mut texts = Texts::new(1 << 16).unwrap();
            let mut chains = [Chain::default(); 2];
            for part in &parts {
                for chain in &mut chains {
                    prop_assert_eq!(texts.append(chain, 3, part), part.len());
                }
            }
            let all = parts.concat();
            for chain in &mut chains {
                let mut out = Vec::new();
                texts.gather(chain, &mut out);
                prop_assert_eq!(&out, &all);
                if let Some(whole) = texts.whole(chain) {
                    prop_assert_eq!(whole, &all);
                }
                texts.release(chain, 3);
            }
            prop_assert_eq!(texts.in_use(), 0);
        }
    }

    /// A shard's cap holds for that shard alone.
    #[test]
    fn a_full_shard_refuses_and_others_do_not() {
        let mut texts = Texts::new(1024).unwrap();
        let mut chain = Chain::default();
        assert_eq!(texts.append(&mut chain, 0, &[1; 2000]), 1016);
        let mut other = Chain::default();
        assert_eq!(texts.append(&mut other, 0, b"x"), 0);
        assert_eq!(texts.append(&mut other, 1, b"x"), 1);
    }
}
