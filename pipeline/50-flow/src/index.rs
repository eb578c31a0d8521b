//! From a packet's hash to its connection: one growing table a shard, all in one reservation.
//!
//! ```text
//!  class k:  │ shard 0: 2ᵏ slots │ shard 1: 2ᵏ slots │ … │      from slot (shards << k) on
//!  slot:     │ hash (32) │ handle + 1 (32) │                    0: empty
//! ```
//!
//! Linear probing from the hash's low bits. A shard that is 3/4 full moves to its place in the
//! next class, so one step moves one shard's slots, and by their tags alone: no entry is touched
//! and nothing is allocated. Does not compare keys: that is the caller's, who has the entries.

use crate::entry::{Handle, NIL};
use crate::shards::ShardSet;
use flowpin_memory::Reserved;
use flowpin_packet::{SHARD_COUNT, Shard};
use std::io;

/// The slots of all shards of one table.
#[derive(Debug)]
pub(crate) struct Index {
    slots: Reserved<u64>,
    regions: Box<[Region; SHARD_COUNT]>,
    shard_count: u32,
    class_max: u32,
}

/// Where a shard's slots are now. A shard of another table has one slot too many to be empty:
/// its mask is 0 and `start` points to a slot that is never used.
#[derive(Clone, Copy, Debug, Default)]
struct Region {
    start: usize,
    mask: u32,
    used: u32,
}

impl Region {
    const fn class(self) -> u32 {
        self.mask.count_ones()
    }
}

impl Index {
    /// Reserves room for `per_shard` connections in each shard.
    pub(crate) fn new(shards: &ShardSet, per_shard: u32) -> io::Result<Self> {
        let shard_count = shards.len() as u32;
        let wanted = u64::from(per_shard) * 4 / 3 + 1;
        let class_max = wanted
            .next_power_of_two()
            .trailing_zeros()
            .clamp(CLASS_MIN, CLASS_MAX);
        let mut regions = Box::new([Region::default(); SHARD_COUNT]);
        for (nth, shard) in shards.iter().enumerate() {
            if let Some(region) = regions.get_mut(usize::from(shard.0)) {
                *region = Region::default();
                region.start = (shard_count as usize + nth) << CLASS_MIN;
                region.mask = (1 << CLASS_MIN) - 1;
            }
        }
        let mut slots = Reserved::new((shard_count.max(1) as usize) << (class_max + 1))?;
        // A machine without huge pages is slower, nothing else.
        let _unavailable = slots.prefer_huge_pages();
        Ok(Self {
            slots,
            regions,
            shard_count,
            class_max,
        })
    }

    /// Whether this table holds a shard.
    #[inline]
    pub(crate) fn owns(&self, hash: u32) -> bool {
        self.region(hash).mask != 0
    }

    /// Connections in a shard.
    #[cfg(test)]
    pub(crate) fn used(&self, shard: Shard) -> u32 {
        self.regions[usize::from(shard.0)].used
    }

    /// Asks for the line where the search for a hash begins.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u32) {
        let region = self.region(hash);
        self.slots
            .prefetch(region.start + (hash & region.mask) as usize);
    }

    /// A guess: the handle with this hash if it stands in one of the first slots, else [`NIL`].
    /// The caller compares keys, so a wrong guess costs a search and nothing else.
    // PERF: four slots without a branch. A loop to the right slot ends unpredictably: 0.7 of a
    // packet's 3.8 mispredicted branches (mixed trace, 400 thousand connections).
    #[inline]
    pub(crate) fn guess(&self, hash: u32) -> Handle {
        let region = self.region(hash);
        let home = region.start + (hash & region.mask) as usize;
        let Some(slots) = self
            .slots
            .get(home..)
            .and_then(|slots| slots.first_chunk::<4>())
        else {
            return NIL;
        };
        let mut found = 0;
        for &slot in slots {
            let mask = u32::from((slot >> 32) as u32 == hash).wrapping_neg();
            found |= slot as u32 & mask;
        }
        // A slot holds the handle plus one, and `NIL` plus one is 0.
        found.wrapping_sub(1)
    }

    /// The handles with this hash, in probing order.
    #[inline]
    pub(crate) fn candidates(&self, hash: u32) -> Candidates<'_> {
        let region = self.region(hash);
        let end = region.start + region.mask as usize + 1;
        let slots = self.slots.get(region.start..end).unwrap_or_default();
        Candidates {
            slots,
            at: hash & region.mask,
            mask: region.mask,
            hash,
        }
    }

    /// Whether the next insertion moves the shard to a larger region.
    #[inline]
    fn is_full(region: Region) -> bool {
        region.used + 1 > (region.mask + 1) / 4 * 3
    }

    /// Enters a handle; false if there is no room, which the caps rule out.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u32, handle: Handle) -> bool {
        let region = self.region(hash);
        if Self::is_full(region) && !self.grow(hash) {
            return false;
        }
        let region = self.region(hash);
        let Some(slots) = Self::slots_of(&mut self.slots, region) else {
            return false;
        };
        place(slots, region.mask, slot(hash, handle));
        self.region_mut(hash).used += 1;
        true
    }

    /// Takes a handle out; later ones of the same run move up.
    pub(crate) fn remove(&mut self, hash: u32, handle: Handle) {
        let region = self.region(hash);
        let Some(slots) = Self::slots_of(&mut self.slots, region) else {
            return;
        };
        let mask = region.mask;
        let gone = slot(hash, handle);
        let mut at = hash & mask;
        for _ in 0..=mask {
            match slots.get(at as usize) {
                Some(&found) if found == gone => break,
                Some(&found) if found != 0 => at = (at + 1) & mask,
                _ => return,
            }
        }
        let mut probe = at;
        for _ in 0..mask {
            probe = (probe + 1) & mask;
            let found = slots.get(probe as usize).copied().unwrap_or(0);
            if found == 0 {
                break;
            }
            // It may move to `at` unless its home lies behind `at`.
            let home = (found >> 32) as u32 & mask;
            if probe.wrapping_sub(home) & mask >= probe.wrapping_sub(at) & mask {
                if let Some(hole) = slots.get_mut(at as usize) {
                    *hole = found;
                }
                at = probe;
            }
        }
        if let Some(hole) = slots.get_mut(at as usize) {
            *hole = 0;
        }
        self.region_mut(hash).used -= 1;
    }

    /// All handles of a shard, in no order that means anything.
    pub(crate) fn handles(&self, shard: Shard) -> impl Iterator<Item = Handle> + '_ {
        let region = self.regions[usize::from(shard.0)];
        let end = region.start + region.mask as usize + 1;
        self.slots
            .get(region.start..end)
            .unwrap_or_default()
            .iter()
            .filter(|&&slot| slot != 0)
            .map(|&slot| slot as u32 - 1)
    }

    /// Moves a shard to its region in the next class.
    #[cold]
    fn grow(&mut self, hash: u32) -> bool {
        let old = self.region(hash);
        if old.mask == 0 || old.class() >= self.class_max {
            return false;
        }
        let nth = (old.start >> old.class()) - self.shard_count as usize;
        let class = old.class() + 1;
        let start = (self.shard_count as usize + nth) << class;
        let mask = (1u32 << class) - 1;
        // Larger classes lie behind smaller ones, so the two regions can be borrowed apart.
        let (front, back) = self.slots.split_at_mut(start);
        let (Some(from), Some(to)) = (
            front.get(old.start..=old.start + old.mask as usize),
            back.get_mut(..=mask as usize),
        ) else {
            return false;
        };
        for &slot in from.iter().filter(|&&slot| slot != 0) {
            place(to, mask, slot);
        }
        let end = old.start + old.mask as usize + 1;
        if self.slots.discard(old.start..end).is_err()
            && let Some(from) = self.slots.get_mut(old.start..end)
        {
            from.fill(0);
        }
        *self.region_mut(hash) = Region {
            start,
            mask,
            used: old.used,
        };
        true
    }

    /// Empties a shard's region; it keeps its size.
    pub(crate) fn clear(&mut self, shard: Shard) {
        let region = &mut self.regions[usize::from(shard.0)];
        region.used = 0;
        let region = *region;
        if let Some(slots) = Self::slots_of(&mut self.slots, region) {
            slots.fill(0);
        }
    }

    fn slots_of(slots: &mut Reserved<u64>, region: Region) -> Option<&mut [u64]> {
        slots.get_mut(region.start..=region.start + region.mask as usize)
    }

    #[inline]
    fn region(&self, hash: u32) -> Region {
        self.regions[(hash >> 24) as usize]
    }

    #[inline]
    fn region_mut(&mut self, hash: u32) -> &mut Region {
        &mut self.regions[(hash >> 24) as usize]
    }
}

/// See [`Index::candidates`].
pub(crate) struct Candidates<'a> {
    slots: &'a [u64],
    at: u32,
    mask: u32,
    hash: u32,
}

impl Iterator for Candidates<'_> {
    type Item = Handle;

    #[inline]
    fn next(&mut self) -> Option<Handle> {
        // At most 3/4 of the slots are in use, so an empty one ends every search.
        loop {
            let slot = *self.slots.get(self.at as usize)?;
            if slot == 0 {
                return None;
            }
            self.at = (self.at + 1) & self.mask;
            if (slot >> 32) as u32 == self.hash {
                return Some(slot as u32 - 1);
            }
        }
    }
}

#[inline]
const fn slot(hash: u32, handle: Handle) -> u64 {
    (hash as u64) << 32 | (handle.wrapping_add(1)) as u64
}

/// Puts a slot into the first empty place from its home on.
#[inline]
fn place(slots: &mut [u64], mask: u32, slot: u64) {
    let mut at = (slot >> 32) as u32 & mask;
    while let Some(found) = slots.get_mut(at as usize) {
        if *found == 0 {
            *found = slot;
            return;
        }
        at = (at + 1) & mask;
    }
}

/// 64 slots a shard to begin with: 128 KiB for all.
const CLASS_MIN: u32 = 6;
/// The hash has no more bits.
const CLASS_MAX: u32 = 24;

#[cfg(test)]
mod tests {
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
                let hash = (shard << 24) + low * 0x40 + if kind == 2 { 0x3f } else { 0x3e };
                if add {
                    prop_assert!(index.insert(hash, handle));
                    model.insert(handle, hash);
                    handle += 1;
                } else if let Some((&gone, &hash)) = model.iter().find(|&(_, &h)| h == hash) {
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

    /// A full index refuses instead of searching for ever, and a foreign shard has no room.
    #[test]
    fn a_full_index_refuses() {
        let shards: ShardSet = [Shard(0)].into_iter().collect();
        let mut index = Index::new(&shards, 100).unwrap();
        let fitted = (0..1000).take_while(|&n| index.insert(7, n)).count();
        assert_eq!(fitted, 192);
        assert_eq!(index.candidates(8).next(), None);
        assert_eq!(index.candidates(7).count(), 192);
        assert!(!index.owns(1 << 24) && index.owns(5));
        assert!(!index.insert(1 << 24, 1));
        assert_eq!(index.candidates(1 << 24).next(), None);
        index.prefetch(u32::MAX);
    }
}
