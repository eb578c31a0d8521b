//! Byte strings that grow: blocks of one pool in a row, charged to the budget of their shard.

use crate::{BlockPool, Budget, Pool, Reserved};
use std::io;
use std::ops::Range;

/// A byte string in [`Chains`]; the default one is empty.
///
/// A plain value: who copies it must not release both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    first: u32,
    last: u32,
    len: u32,
}

impl Chain {
    /// How many bytes it holds.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether it holds none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// What parsers keep of the bytes of connections: strings that grow in blocks of one size. Each
/// block is charged to the budget of its shard until the string is released.
///
/// ```
/// use flowpin_memory::{Budget, Chain, Chains};
///
/// let budget = Budget::new(1 << 20);
/// let mut chains = Chains::new(&budget, 64)?;
/// let mut name = Chain::default();
/// assert!(chains.append(7, &mut name, b"example") && chains.append(7, &mut name, b".org"));
/// let mut text = Vec::new();
/// chains.read(&name, &mut text);
/// assert_eq!(text, b"example.org");
/// assert_eq!(budget.left(7), (1 << 20) - chains.cost(text.len()));
/// chains.release(7, &mut name);
/// assert!(budget.is_whole());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Chains {
    blocks: BlockPool,
    next: Reserved<u32>,
    budget: Budget,
}

/// The link to the next block, and the place in the list of free ones.
const LINK_BYTES: u64 = 8;
const SHARDS: u32 = 256;

impl Chains {
    /// For all that the budget allows; `block_bytes` is a power of two from 32 to 2048.
    ///
    /// # Errors
    ///
    /// If so much does not fit any address space.
    pub fn new(budget: &Budget, block_bytes: usize) -> io::Result<Self> {
        let count = budget.capacity_of(block_bytes as u64 + LINK_BYTES, SHARDS);
        Ok(Self {
            blocks: BlockPool::new(block_bytes, count)?,
            next: Reserved::growing(count as usize)?,
            budget: budget.clone(),
        })
    }

    /// The pool of its blocks.
    pub fn pool(&mut self) -> &mut dyn Pool {
        &mut self.blocks
    }

    /// What a string of `len` bytes takes of its shard's budget.
    #[inline]
    pub fn cost(&self, len: usize) -> u64 {
        let block_bytes = self.blocks.block_bytes();
        len.div_ceil(block_bytes) as u64 * (block_bytes as u64 + LINK_BYTES)
    }

    /// Appends bytes to a string; false, and nothing is appended, if its shard has no memory left.
    #[must_use]
    pub fn append(&mut self, shard: u8, chain: &mut Chain, bytes: &[u8]) -> bool {
        let (block_bytes, before) = (self.blocks.block_bytes(), chain.len());
        let room = before.next_multiple_of(block_bytes) - before;
        let Some(total) = before.checked_add(bytes.len()) else {
            return false;
        };
        let Ok(len) = u32::try_from(total) else {
            return false;
        };
        let more = self.cost(total) - self.cost(before);
        if !self.budget.take(shard, more) {
            return false;
        }
        let (head, mut rest) = bytes.split_at(room.min(bytes.len()));
        self.write(chain.last, block_bytes - room, head);
        let mut first = chain.is_empty();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(block_bytes.min(rest.len()));
            // The pool has a block for all that the budget allows.
            let block = self.blocks.take().unwrap_or_default();
            if block as usize >= self.next.len() {
                self.next.reach((block as usize + 1).next_power_of_two());
            }
            self.write(block, 0, now);
            if first {
                chain.first = block;
                first = false;
            } else if let Some(next) = self.next.get_mut(chain.last as usize) {
                *next = block;
            }
            chain.last = block;
            rest = later;
        }
        chain.len = len;
        true
    }

    /// Appends a chain's bytes to `out`.
    pub fn read(&self, chain: &Chain, out: &mut Vec<u8>) {
        self.read_part(chain, 0..chain.len(), out);
    }

    /// Appends some of a chain's bytes to `out`: those of the range that it has.
    pub fn read_part(&self, chain: &Chain, range: Range<usize>, out: &mut Vec<u8>) {
        let end = range.end.min(chain.len());
        let mut left = end.saturating_sub(range.start);
        if left == 0 {
            return;
        }
        let block_bytes = self.blocks.block_bytes();
        let mut block = chain.first;
        for _ in 0..range.start / block_bytes {
            block = self.following(block);
        }
        let mut from = range.start % block_bytes;
        loop {
            let bytes = self.blocks.bytes(block).get(from..).unwrap_or_default();
            let count = left.min(bytes.len());
            if count == 0 {
                return;
            }
            out.extend_from_slice(bytes.get(..count).unwrap_or_default());
            left -= count;
            if left == 0 {
                // Most chains are one block: where it leads to is not fetched.
                return;
            }
            (block, from) = (self.following(block), 0);
        }
    }

    fn following(&self, block: u32) -> u32 {
        self.next.get(block as usize).copied().unwrap_or(u32::MAX)
    }

    /// Gives the memory of a string's first bytes back, as far as `len` bytes have blocks of their
    /// own; how many of them it still has.
    pub fn drop_front(&mut self, shard: u8, chain: &mut Chain, len: usize) -> usize {
        let block_bytes = self.blocks.block_bytes();
        if len >= chain.len() {
            self.release(shard, chain);
            return 0;
        }
        let before = self.cost(chain.len());
        for _ in 0..len / block_bytes {
            let block = chain.first;
            chain.first = self.following(block);
            self.blocks.put_back(block);
        }
        let gone = len - len % block_bytes;
        // Less than it has.
        chain.len = u32::try_from(chain.len() - gone).unwrap_or(0);
        let after = self.cost(chain.len());
        self.budget.give_back(shard, before - after);
        len - gone
    }

    /// Gives the memory of a string back; it is empty afterwards.
    #[inline]
    pub fn release(&mut self, shard: u8, chain: &mut Chain) {
        if chain.is_empty() {
            return;
        }
        self.budget.give_back(shard, self.cost(chain.len()));
        let blocks = chain.len().div_ceil(self.blocks.block_bytes());
        let mut block = chain.first;
        for more in (0..blocks).rev() {
            self.blocks.put_back(block);
            if more > 0 {
                block = self.following(block);
            }
        }
        *chain = Chain::default();
    }

    /// Replaces a string by other bytes; without memory for them it is empty, and false is
    /// returned.
    pub fn replace(&mut self, shard: u8, chain: &mut Chain, bytes: &[u8]) -> bool {
        self.release(shard, chain);
        self.append(shard, chain, bytes)
    }

    fn write(&mut self, block: u32, at: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if let Some(place) = self.blocks.bytes_mut(block).get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Chain, Chains};
    use crate::Budget;
    use proptest::prelude::*;

    /// A shard without memory refuses, whole, and leaves the others alone.
    #[test]
    fn a_shard_without_memory_refuses_and_others_do_not() {
        let budget = Budget::new(80);
        let mut chains = Chains::new(&budget, 32).unwrap();
        let mut one = Chain::default();
        assert!(chains.append(0, &mut one, &[1; 40]));
        assert!(!chains.append(0, &mut one, &[2; 25]));
        assert_eq!(one.len(), 40);
        assert!(chains.append(0, &mut one, &[2; 24]));
        let mut other = Chain::default();
        assert!(!chains.append(0, &mut other, &[3]));
        assert!(chains.append(1, &mut other, &[3; 64]));
        chains.release(0, &mut one);
        chains.release(1, &mut other);
        assert!(budget.is_whole());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Chains are byte strings: whatever is appended to whichever comes back, behind what was
        /// dropped, and any part of it.
        #[test]
        fn chains_are_byte_strings(
            steps in prop::collection::vec(
                (0u8..4, prop::collection::vec(any::<u8>(), 0..90), any::<bool>(), 0usize..150),
                0..60),
        ) {
            let budget = Budget::new(1600);
            let mut chains = Chains::new(&budget, 32).unwrap();
            let mut held = [Chain::default(); 4];
            let mut model: [Vec<u8>; 4] = Default::default();
            for (shard, bytes, release, drop) in steps {
                let (which, shard) = (usize::from(shard), shard % 2);
                let left = budget.left(shard);
                if chains.append(shard, &mut held[which], &bytes) {
                    model[which].extend(&bytes);
                } else {
                    prop_assert!(chains.cost(bytes.len() + 31) > left);
                }
                if release {
                    chains.release(shard, &mut held[which]);
                    model[which].clear();
                } else {
                    let left = chains.drop_front(shard, &mut held[which], drop);
                    let drop = drop.min(model[which].len()) - left;
                    model[which].drain(..drop);
                    prop_assert!(left < 32 || model[which].is_empty());
                }
                let (from, to) = (drop.min(model[which].len()) / 2, drop.min(model[which].len()));
                let mut part = Vec::new();
                chains.read_part(&held[which], from..to, &mut part);
                prop_assert_eq!(&part, &model[which][from..to]);
                let mut out = Vec::new();
                chains.read(&held[which], &mut out);
                prop_assert_eq!(&out, &model[which]);
                prop_assert_eq!(held[which].len(), model[which].len());
            }
            for (which, chain) in (0u8..).zip(&mut held) {
                chains.release(which % 2, chain);
            }
            prop_assert!(budget.is_whole());
        }
    }
}
