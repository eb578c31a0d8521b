//! Pools whose values are elsewhere, as programs that measure it have them (`--cfg flowpin_bench`):
//! one choice for all pools, so a process of its own.
#![cfg(flowpin_bench)]
#![allow(clippy::unwrap_used, reason = "tests")]

use flowpin_memory::{BlockPool, Places, Slab, place_values};

/// Wherever values are, handles lead to them, and given-back ones are used again.
#[test]
fn values_are_found_wherever_they_are() {
    for places in [Places::Pool, Places::PoolByTable, Places::Malloc] {
        place_values(places);
        let mut slab = Slab::with_capacity(100).unwrap();
        let mut pool = BlockPool::new(64, 100).unwrap();
        let mut held = Vec::new();
        for turn in 0..1_000_u64 {
            let value = turn + 1;
            let byte = value.to_le_bytes()[0];
            if held.len() == 100 {
                let (_, _, handle, block) = held.swap_remove((turn * 37 % 100) as usize);
                slab.remove(handle);
                pool.put_back(block);
            }
            let (handle, block) = (slab.insert([turn; 9]).unwrap(), pool.take().unwrap());
            slab.prefetch(handle);
            pool.prefetch(block);
            slab[handle] = [value; 9];
            pool.bytes_mut(block).fill(byte);
            held.push((value, byte, handle, block));
            let all = held.iter().all(|&(value, byte, handle, block)| {
                slab[handle] == [value; 9] && pool.bytes(block) == [byte; 64]
            });
            assert!(all, "{places:?}");
        }
        assert_eq!((slab.len(), pool.len()), (100, 100));
        let mut buffers = Slab::<[u8; 40]>::with_capacity(2).unwrap();
        let first = buffers.take().unwrap();
        buffers[first].fill(7);
        assert_eq!(buffers[first], [7; 40]);
        slab.clear().unwrap();
        assert!(slab.is_empty() && slab.get(0).is_none());
    }
}
