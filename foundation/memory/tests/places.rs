//! Pools whose values are reached by a table of places; a program of its own, as where pools have
//! their values is one setting for all of them.

#![cfg(flowpin_bench)]
#![allow(clippy::unwrap_used, reason = "tests")]

use flowpin_memory::{BlockPool, Places, Slab, place_values};

/// The table has addresses: a pool that grows must not move what they lead to.
#[test]
fn values_stay_where_the_table_says_as_pools_grow() {
    for places in [Places::PoolByTable, Places::Malloc] {
        place_values(places);
        let mut slab: Slab<[u64; 8]> = Slab::with_capacity(100_000).unwrap();
        let mut blocks = BlockPool::new(256, 100_000).unwrap();
        for nth in 0..100_000_u32 {
            assert_eq!(slab.insert([u64::from(nth); 8]), Some(nth));
            let block = blocks.take().unwrap();
            blocks.bytes_mut(block)[..4].copy_from_slice(&nth.to_le_bytes());
        }
        for nth in 0..100_000_u32 {
            assert_eq!(slab[nth], [u64::from(nth); 8], "{places:?}");
            assert_eq!(blocks.bytes(nth)[..4], nth.to_le_bytes(), "{places:?}");
        }
    }
}
