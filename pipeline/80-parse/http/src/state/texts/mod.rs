//! Texts of unknown length in pooled blocks, whose memory their shard's budget has.
//!
//! ```text
//!  chain ──► first block ──► 512 bytes ──► 512 bytes ─ …
//!            512, or 128 for one request among many
//! ```

mod chain;

pub(crate) use chain::Chain;

use chain::{LINK, Size};
use flowpin_memory::{BlockPool, Budget, Pool};
use std::io;

/// The blocks of one worker.
#[derive(Debug)]
pub(crate) struct Texts {
    short: BlockPool,
    usual: BlockPool,
    budget: Budget,
}

impl Texts {
    pub(crate) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.short);
        visit(&mut self.usual);
    }

    pub(crate) fn new(budget: &Budget) -> io::Result<Self> {
        let pool = |size: Size| {
            let count = budget.capacity_of(size.cost(), 256);
            BlockPool::new(size.block_bytes() as usize, count)
        };
        Ok(Self {
            short: pool(Size::Short)?,
            usual: pool(Size::Usual)?,
            budget: budget.clone(),
        })
    }

    #[inline]
    fn pool(&self, size: Size) -> &BlockPool {
        match size {
            Size::Short => &self.short,
            Size::Usual => &self.usual,
        }
    }

    #[inline]
    fn pool_mut(&mut self, size: Size) -> &mut BlockPool {
        match size {
            Size::Short => &mut self.short,
            Size::Usual => &mut self.usual,
        }
    }

    /// Appends as much as there is room for, and returns how much.
    #[inline]
    pub(crate) fn append(&mut self, chain: &mut Chain, shard: u8, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (mut size, mut filled) = chain.filled();
            if chain.free() == 0 {
                let Some(new) = self.grow(chain, shard) else {
                    break;
                };
                (size, filled) = (new, 0);
            }
            let block = self.pool_mut(size).bytes_mut(chain.last.wrapping_sub(1));
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
        if Self::cost_of(list, needed) > self.budget.left(shard) {
            return false;
        }
        std::iter::once(len.to_le_bytes().as_slice())
            .chain(parts.iter().copied())
            .all(|part| self.append(list, shard, part) == part.len())
    }

    /// The memory of the blocks that `more` bytes need.
    fn cost_of(chain: &Chain, more: u32) -> u64 {
        let beyond = more.saturating_sub(chain.free());
        let blocks = |bytes: u32| {
            let count = bytes.div_ceil(Size::Usual.room());
            u64::from(count).saturating_mul(Size::Usual.cost())
        };
        if beyond == 0 {
            return 0;
        }
        if chain.first != 0 {
            return blocks(beyond);
        }
        let first = chain.first_size();
        let others = blocks(beyond.saturating_sub(first.room()));
        others.saturating_add(first.cost())
    }

    /// Adds a block and returns its size; none if the shard has no memory for it.
    fn grow(&mut self, chain: &mut Chain, shard: u8) -> Option<Size> {
        let is_first = chain.first == 0;
        let size = if is_first {
            chain.first_size()
        } else {
            Size::Usual
        };
        if !self.budget.take(shard, size.cost()) {
            return None;
        }
        let Some(block) = self.pool_mut(size).take() else {
            self.budget.give_back(shard, size.cost());
            return None;
        };
        self.link(size, block, 0);
        let block = block.wrapping_add(1);
        if is_first {
            chain.first = block;
        } else {
            let (last, _) = chain.filled();
            self.link(last, chain.last.wrapping_sub(1), block);
        }
        chain.last = block;
        Some(size)
    }

    /// Writes which block follows one.
    fn link(&mut self, size: Size, block: u32, next: u32) {
        let bytes = self.pool_mut(size).bytes_mut(block);
        if let Some(link) = bytes.first_chunk_mut::<LINK>() {
            *link = next.to_le_bytes();
        }
    }

    /// Gives all blocks back.
    #[inline]
    pub(crate) fn release(&mut self, chain: &mut Chain, shard: u8) {
        // PERF: most of a transaction's chains are empty.
        if chain.first != 0 {
            self.release_blocks(chain, shard);
        }
    }

    fn release_blocks(&mut self, chain: &mut Chain, shard: u8) {
        let mut block = chain.first;
        let mut size = chain.first_size();
        let mut bytes = 0u64;
        while block != 0 {
            let next = self.next(size, block);
            self.pool_mut(size).put_back(block.wrapping_sub(1));
            bytes = bytes.wrapping_add(size.cost());
            (block, size) = (next, Size::Usual);
        }
        self.budget.give_back(shard, bytes);
        *chain = Chain::new(chain.is_short());
    }

    /// The bytes, if they lie in one block.
    #[inline]
    pub(crate) fn whole(&self, chain: &Chain) -> Option<&[u8]> {
        if chain.is_empty() {
            return Some(&[]);
        }
        let pool = self.pool(chain.first_size());
        let block = pool.bytes(chain.first.wrapping_sub(1));
        block.get(LINK..LINK.wrapping_add(chain.len() as usize))
    }

    /// Appends the bytes to `out`.
    pub(crate) fn gather(&self, chain: &Chain, out: &mut Vec<u8>) {
        let mut block = chain.first;
        let mut size = chain.first_size();
        let mut left = chain.len() as usize;
        while block != 0 && left > 0 {
            let bytes = self.pool(size).bytes(block.wrapping_sub(1));
            let room = bytes.get(LINK..).unwrap_or_default();
            let part = room.get(..left.min(room.len())).unwrap_or_default();
            out.extend_from_slice(part);
            left = left.saturating_sub(part.len());
            (block, size) = (self.next(size, block), Size::Usual);
        }
    }

    fn next(&self, size: Size, block: u32) -> u32 {
        let bytes = self.pool(size).bytes(block.wrapping_sub(1));
        bytes
            .first_chunk::<LINK>()
            .map_or(0, |link| u32::from_le_bytes(*link))
    }

    /// Blocks in use.
    pub(crate) fn in_use(&self) -> u32 {
        self.short.len().saturating_add(self.usual.len())
    }
}

/// Bytes of a list.
const LIST_MAX: u32 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::{Chain, Texts};
    use flowpin_memory::Budget;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Appended bytes come back, whatever their parts; no block and no byte of the budget
        /// stays in use.
        #[test]
        fn chains_give_back_what_was_appended(parts in prop::collection::vec(
            prop::collection::vec(any::<u8>(), 0..700), 0..8,
        )) {
            let budget = Budget::new(1 << 16);
            let mut texts = Texts::new(&budget).unwrap();
            let mut chains = [Chain::new(false), Chain::new(true)];
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
                prop_assert_eq!(chain.len() as usize, all.len());
                if let Some(whole) = texts.whole(chain) {
                    prop_assert_eq!(whole, &all);
                }
                texts.release(chain, 3);
            }
            prop_assert_eq!(texts.in_use(), 0);
            prop_assert!(budget.is_whole());
        }

        /// An item is kept whole or not at all, with what its shard has left.
        #[test]
        fn items_are_kept_whole_or_not_at_all(
            items in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..700), 0..8),
            shard_bytes in 0u64..4000,
            is_short in any::<bool>(),
        ) {
            let budget = Budget::new(shard_bytes);
            let mut texts = Texts::new(&budget).unwrap();
            let mut list = Chain::new(is_short);
            let mut expected = Vec::new();
            for item in &items {
                if texts.append_item(&mut list, 9, &[item]) {
                    expected.extend(u16::try_from(item.len()).unwrap().to_le_bytes());
                    expected.extend(item);
                }
            }
            let mut out = Vec::new();
            texts.gather(&list, &mut out);
            prop_assert_eq!(out, expected);
            texts.release(&mut list, 9);
            prop_assert!(budget.is_whole());
        }
    }

    /// A shard's memory is its own.
    #[test]
    fn a_full_shard_refuses_and_others_do_not() {
        let mut texts = Texts::new(&Budget::new(1040)).unwrap();
        let mut chain = Chain::default();
        assert_eq!(texts.append(&mut chain, 0, &[1; 2000]), 1016);
        let mut other = Chain::default();
        assert_eq!(texts.append(&mut other, 0, b"x"), 0);
        assert_eq!(texts.append(&mut other, 1, b"x"), 1);
    }
}
