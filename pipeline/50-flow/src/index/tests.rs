//! The index against a map, with hashes chosen to collide.

use super::Index;
use crate::shards::ShardSet;
use flowpin_packet::Shard;
use proptest::prelude::*;
use std::collections::HashMap;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The index is a map from (hash, handle) to presence, through growth and removal, for
    /// hashes chosen to collide.
    #[test]
    fn the_index_finds_what_is_in_it_and_nothing_else(
        steps in prop::collection::vec((0u32..3, 0u32..40, any::<bool>()), 0..600),
    ) {
        let shards: ShardSet = [Shard(3), Shard(200)].into_iter().collect();
        let mut index = Index::new(&shards, 1000).unwrap();
        let mut model: HashMap<u32, u32> = HashMap::new();
        let mut handle = 0;
        for (kind, low, add) in steps {
            // Homes cluster around the wrap of a small region.
            let shard = if kind == 0 { 3 } else { 200 };
            let hash = (shard << 24) + low * 8 + if kind == 2 { 7 } else { 6 };
            if add {
                prop_assert!(index.insert(hash, handle));
                model.insert(handle, hash);
                handle += 1;
            } else if let Some((&gone, &hash)) = model.iter().find(|&(_, &held)| held == hash) {
                index.remove(hash, gone);
                model.remove(&gone);
            }
        }
        for (&handle, &hash) in &model {
            prop_assert!(index.candidates(hash).any(|found| found == handle));
        }
        let used = index.used(Shard(3)) + index.used(Shard(200));
        prop_assert_eq!(used as usize, model.len());
        let (some, others) = (index.handles(Shard(3)), index.handles(Shard(200)));
        let mut all: Vec<u32> = some.chain(others).collect();
        all.sort_unstable();
        let mut want: Vec<u32> = model.keys().copied().collect();
        want.sort_unstable();
        prop_assert_eq!(all, want);
    }
}

/// A full index refuses instead of searching forever, and a foreign shard has no room.
#[test]
fn a_full_index_refuses() {
    let shards: ShardSet = [Shard(0)].into_iter().collect();
    let mut index = Index::new(&shards, 100).unwrap();
    let fitted = (0..1000).take_while(|&n| index.insert(7, n)).count();
    assert_eq!(fitted, 160);
    assert_eq!(index.candidates(8).next(), None);
    assert_eq!(index.candidates(7).count(), 160);
    assert!(!index.owns(1 << 24) && index.owns(5));
    assert!(!index.insert(1 << 24, 1));
    assert_eq!(index.candidates(1 << 24).next(), None);
    index.prefetch(u32::MAX);
}
