//! Byte strings that grow: blocks of one pool in a row, with a quota for each shard.

use crate::{BlockPool, Pool, Reserved};
use std::io;

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

/// What parsers keep of messages that are not yet whole, of all connections.
///
/// ```
/// use flowpin_memory::{Chain, Chains};
///
/// let mut chains = Chains::new(32, 10, 4)?; // ten blocks of 32 bytes for each of four shards
/// let mut held = Chain::default();
/// assert!(chains.append(1, &mut held, b"8=FIX.4.4"));
/// let mut out = Vec::new();
/// chains.read(&held, &mut out);
/// assert_eq!(out, b"8=FIX.4.4");
/// chains.release(1, &mut held);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Chains {
    pool: BlockPool,
    next: Reserved<u32>,
    used: Vec<u32>,
    quota: u32,
}

impl Chains {
    /// Reserves room for `quota` blocks of `block_bytes` in each of `shards`.
    ///
    /// # Errors
    ///
    /// Where the system refuses the address space.
    pub fn new(block_bytes: usize, quota: u32, shards: usize) -> io::Result<Self> {
        let shards_count = u32::try_from(shards).unwrap_or(u32::MAX);
        let blocks = quota.saturating_mul(shards_count);
        Ok(Self {
            pool: BlockPool::new(block_bytes, blocks)?,
            next: Reserved::new(blocks as usize)?,
            used: vec![0; shards],
            quota,
        })
    }

    /// Adds `bytes` to a chain; `false`, and nothing is added, if the shard's quota has no room.
    pub fn append(&mut self, shard: usize, chain: &mut Chain, bytes: &[u8]) -> bool {
        let block_bytes = self.pool.block_bytes();
        let room = chain.len().next_multiple_of(block_bytes) - chain.len();
        let blocks = bytes.len().saturating_sub(room).div_ceil(block_bytes);
        let (Ok(blocks), Ok(len)) = (u32::try_from(blocks), u32::try_from(bytes.len())) else {
            return false;
        };
        let Some(used) = self.used.get_mut(shard) else {
            return false;
        };
        let Some(total) = chain.len.checked_add(len) else {
            return false;
        };
        if used.saturating_add(blocks) > self.quota {
            return false;
        }
        *used += blocks;
        let (head, mut rest) = bytes.split_at(room.min(bytes.len()));
        self.write(chain.last, block_bytes - room, head);
        let mut first = chain.is_empty();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(block_bytes.min(rest.len()));
            // Quotas add up to the pool's size: there is always a block.
            let block = self.pool.take().unwrap_or_default();
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
        chain.len = total;
        true
    }

    /// Appends a chain's bytes to `out`.
    pub fn read(&self, chain: &Chain, out: &mut Vec<u8>) {
        let mut left = chain.len();
        let mut block = chain.first;
        while left > 0 {
            let bytes = self.pool.bytes(block);
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
            block = self.next.get(block as usize).copied().unwrap_or(u32::MAX);
        }
    }

    /// Gives a chain's blocks back; it is empty then.
    pub fn release(&mut self, shard: usize, chain: &mut Chain) {
        let blocks = chain.len().div_ceil(self.pool.block_bytes());
        let mut block = chain.first;
        for more in (0..blocks).rev() {
            self.pool.put_back(block);
            if more > 0 {
                block = self.next.get(block as usize).copied().unwrap_or(u32::MAX);
            }
        }
        if let Some(used) = self.used.get_mut(shard) {
            *used = used.saturating_sub(u32::try_from(blocks).unwrap_or(u32::MAX));
        }
        *chain = Chain::default();
    }

    /// Blocks in use.
    pub fn blocks_in_use(&self) -> u32 {
        self.pool.len()
    }

    fn write(&mut self, block: u32, at: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if let Some(place) = self.pool.bytes_mut(block).get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }
}

impl Pool for Chains {
    fn touched_bytes(&self) -> u64 {
        self.pool.touched_bytes()
    }

    fn trim(&mut self) {
        self.pool.trim();
    }
}

#[cfg(test)]
mod tests {
    use super::{Chain, Chains};
    use proptest::prelude::*;

    /// A shard that has used up its quota refuses, whole, and leaves the others alone.
    #[test]
    fn a_shard_beyond_its_quota_refuses_and_others_do_not() {
        let mut chains = Chains::new(32, 2, 2).unwrap();
        let mut one = Chain::default();
        assert!(chains.append(0, &mut one, &[1; 40]));
        assert!(!chains.append(0, &mut one, &[2; 25]));
        assert_eq!(one.len(), 40);
        assert!(chains.append(0, &mut one, &[2; 24]));
        let mut other = Chain::default();
        assert!(!chains.append(0, &mut other, &[3]));
        assert!(chains.append(1, &mut other, &[3; 64]));
        assert!(!chains.append(7, &mut other, &[3]));
        chains.release(0, &mut one);
        chains.release(1, &mut other);
        assert_eq!(chains.blocks_in_use(), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Chains are byte strings: whatever is appended to whichever comes back.
        #[test]
        fn chains_are_byte_strings(
            steps in prop::collection::vec(
                (0usize..4, prop::collection::vec(any::<u8>(), 0..90), any::<bool>()), 0..60),
        ) {
            let mut chains = Chains::new(32, 40, 2).unwrap();
            let mut held = [Chain::default(); 4];
            let mut model: [Vec<u8>; 4] = Default::default();
            for (which, bytes, release) in steps {
                if chains.append(which % 2, &mut held[which], &bytes) {
                    model[which].extend(&bytes);
                }
                if release {
                    chains.release(which % 2, &mut held[which]);
                    model[which].clear();
                }
                let mut out = Vec::new();
                chains.read(&held[which], &mut out);
                prop_assert_eq!(&out, &model[which]);
                prop_assert_eq!(held[which].len(), model[which].len());
            }
            for (which, chain) in held.iter_mut().enumerate() {
                chains.release(which % 2, chain);
            }
            prop_assert_eq!(chains.blocks_in_use(), 0);
        }
    }
}
