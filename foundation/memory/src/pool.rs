//! Giving memory that pools no longer use back to the system.

use crate::handles::Free;
use core::ops::Range;

/// A pool whose resident memory can be lowered.
///
/// A value that was used once stays resident, for the next one. Where many pools take from one
/// [`Budget`](crate::Budget), each of them may have used all of it at some time: [`Pool::trim`]
/// gives back what is free.
pub trait Pool {
    /// Resident bytes, in use or free.
    fn touched_bytes(&self) -> u64;

    /// Gives pages without values in use back to the system, as far as possible: values do not
    /// move. A refusal of the system (locked pages) changes nothing.
    fn trim(&mut self);
}

/// A page, the unit that the system takes back. (Where pages are larger, nothing between two values
/// in use is given back.)
const PAGE_BYTES: usize = 4096;

/// The runs of whole pages in which all blocks are free, as ranges of bytes. `starts_at` gives
/// where a block begins, ascending; `below`: the number of blocks.
pub(crate) fn free_pages(
    free: &Free,
    below: u32,
    starts_at: impl Fn(u32) -> usize,
) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut first = 0;
    while first < below {
        let after = (first..below)
            .find(|&block| !free.has(block))
            .unwrap_or(below);
        let from = starts_at(first).next_multiple_of(PAGE_BYTES);
        let to = starts_at(after) / PAGE_BYTES * PAGE_BYTES;
        if from < to {
            runs.push(from..to);
        }
        first = after.saturating_add(1);
    }
    runs
}

/// Whether a byte lies in one of some ascending ranges.
pub(crate) fn is_in(runs: &[Range<usize>], at: usize) -> bool {
    let nth = runs.partition_point(|run| run.end <= at);
    runs.get(nth).is_some_and(|run| run.contains(&at))
}

#[cfg(test)]
mod tests {
    use super::Pool;
    use crate::{BlockPool, Slab};
    use proptest::prelude::*;

    /// After a flood has gone, its memory goes, too; the next one has it again.
    #[test]
    fn what_a_flood_has_used_is_given_back() {
        let mut slab: Slab<[u64; 8]> = Slab::with_capacity(10_000).unwrap();
        let handles: Vec<u32> = (0..10_000)
            .map(|nth| slab.insert([nth; 8]).unwrap())
            .collect();
        handles[100..]
            .iter()
            .for_each(|&handle| slab.remove(handle));
        assert_eq!(slab.touched_bytes(), 10_000 * 68);
        slab.trim();
        assert_eq!(slab.touched_bytes(), 100 * 68);
        assert_eq!(slab[handles[99]], [99; 8]);
        assert!(slab.get(5000).is_none(), "not a value any more");
        assert_eq!(slab.insert([7; 8]), Some(100));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Trimming changes no block in use, gives no block out twice, and leaves no page resident
        /// between blocks in use, but for those that they share.
        #[test]
        fn trimming_leaves_blocks_in_use_alone(
            size in prop::sample::select(vec![32usize, 128, 512, 2048]),
            ends in prop::collection::vec((0usize..600, 1usize..600), 1..4),
        ) {
            let mut pool = BlockPool::new(size, 2000).unwrap();
            let mut used: Vec<u32> = (0..1000).map(|_| pool.take().unwrap()).collect();
            for (from, len) in ends {
                for &block in used.iter().skip(from).take(len) {
                    pool.put_back(block);
                }
                let to = (from + len).min(used.len());
                used.drain(from.min(to)..to);
                for &block in &used {
                    pool.bytes_mut(block).fill(block as u8);
                }
                pool.trim();
                for &block in &used {
                    prop_assert!(pool.bytes(block).iter().all(|&byte| byte == block as u8));
                }
                let most = (used.len() * (size + 4096) + 4 * 8192) as u64;
                prop_assert!(pool.touched_bytes() <= most, "{} > {most}", pool.touched_bytes());
                let before = used.len();
                used.extend((before..900).map(|_| pool.take().unwrap()));
                used.sort_unstable();
                used.dedup();
                prop_assert_eq!(used.len(), before.max(900));
            }
        }
    }
}
