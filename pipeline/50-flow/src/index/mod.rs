//! The index from a packet's hash to its connection: a growing table per shard, all in one
//! reservation.
//!
//! ```text
//!  class k:  │ shard 0: 2ᵏ buckets │ shard 1: 2ᵏ buckets │ … │   from bucket (shards << k) on
//!  bucket:   │ 8 hashes │ 8 handles + 1 │                        one line; 0: empty
//! ```
//!
//! A handle is stored in the bucket that the low bits of its hash select or, if that is full, in
//! the next bucket with room. A shard that is 5/8 full moves to its region in the next class. So
//! one step moves the handles of one shard, using their hashes alone: no entry is touched and
//! nothing is allocated. The index does not compare keys: the caller, who has the entries, does.
// PERF: a bucket is compared as a whole, without a branch per slot, and most packets need one
// bucket. Linear probing slot by slot ended unpredictably (0.7 of a packet's 3.8 mispredicted
// branches), and the search for a new connection touched several lines.

mod bucket;
#[cfg(test)]
mod tests;

use crate::entry::{Handle, NIL};
use crate::shards::ShardSet;
use bucket::{Bucket, SLOTS, has_room, look, slots_of};
use flowpin_memory::Reserved;
use flowpin_packet::{SHARD_COUNT, Shard};
use std::io;

/// The slots of all shards of a table.
#[derive(Debug)]
pub(crate) struct Index {
    buckets: Reserved<Bucket>,
    regions: Box<[Region; SHARD_COUNT]>,
    shard_count: u32,
    class_max: u32,
    /// Number of shards that have left each class for the next.
    left: [u32; CLASS_MAX as usize + 1],
}

/// The current buckets of a shard. A shard that another table owns has one bucket, which stays
/// empty: its mask is 0 and `start` points to a bucket that is never used.
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

    /// The bucket that a hash belongs to.
    #[inline]
    const fn home(self, hash: u32) -> usize {
        self.start + (hash & self.mask) as usize
    }

    /// The bucket after another one; the first after the last.
    #[inline]
    const fn after(self, bucket: usize) -> usize {
        self.start + ((bucket - self.start + 1) & self.mask as usize)
    }

    const fn range(self) -> core::ops::Range<usize> {
        self.start..self.start + self.mask as usize + 1
    }
}

/// The result of [`Index::look`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// No handle has this hash.
    Absent,
    /// This handle has it, unless there are two.
    Perhaps(Handle),
    /// Not here, but the bucket is full: continue with the next one.
    Beyond,
}

impl Index {
    /// Reserves room for `per_shard` connections in each shard.
    pub(crate) fn new(shards: &ShardSet, per_shard: u32) -> io::Result<Self> {
        let shard_count = shards.len() as u32;
        let wanted = u64::from(per_shard) * 8 / (5 * SLOTS as u64) + 1;
        let class_max = wanted
            .next_power_of_two()
            .trailing_zeros()
            .clamp(CLASS_MIN, CLASS_MAX);
        let mut regions = Box::new([Region::default(); SHARD_COUNT]);
        for (nth, shard) in shards.iter().enumerate() {
            if let Some(region) = regions.get_mut(usize::from(shard.0)) {
                region.start = (shard_count as usize + nth) << CLASS_MIN;
                region.mask = (1 << CLASS_MIN) - 1;
            }
        }
        let mut buckets = Reserved::new((shard_count.max(1) as usize) << (class_max + 1))?;
        // Without huge pages the program is slower; nothing else changes.
        let _unavailable = buckets.prefer_huge_pages();
        Ok(Self {
            buckets,
            regions,
            shard_count,
            class_max,
            left: [0; CLASS_MAX as usize + 1],
        })
    }

    /// Whether this table owns the shard of a hash.
    #[inline]
    pub(crate) fn owns(&self, hash: u32) -> bool {
        self.region(hash).mask != 0
    }

    /// Connections in a shard.
    #[cfg(test)]
    pub(crate) fn used(&self, shard: Shard) -> u32 {
        self.regions[usize::from(shard.0)].used
    }

    /// Prefetches the line where the search for a hash begins.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u32) {
        self.buckets.prefetch(self.region(hash).home(hash));
    }

    /// A guess: the handle with this hash if it is in its own bucket, otherwise [`NIL`]. The caller
    /// compares keys, so a wrong guess costs a search and nothing else.
    #[inline]
    pub(crate) fn guess(&self, hash: u32) -> Handle {
        let home = self.region(hash).home(hash);
        match self.buckets.get(home) {
            Some(bucket) => look(bucket, hash).0,
            None => NIL,
        }
    }

    /// Looks into the `nth` bucket, counted from the hash's own.
    #[inline]
    pub(crate) fn look(&self, hash: u32, nth: u32) -> Look {
        let region = self.region(hash);
        let bucket = region.start + (hash.wrapping_add(nth) & region.mask) as usize;
        match self.buckets.get(bucket).map(|bucket| look(bucket, hash)) {
            Some((NIL, true)) => Look::Absent,
            Some((NIL, false)) => Look::Beyond,
            Some((handle, _)) => Look::Perhaps(handle),
            None => Look::Absent,
        }
    }

    /// All handles with this hash.
    pub(crate) fn candidates(&self, hash: u32) -> impl Iterator<Item = Handle> + '_ {
        let region = self.region(hash);
        let mut at = Some(region.home(hash));
        let buckets = (0..=region.mask).map_while(move |_| {
            let bucket = self.buckets.get(at?)?;
            at = (!has_room(bucket)).then(|| region.after(at.unwrap_or_default()));
            Some(bucket)
        });
        buckets.flat_map(move |bucket| {
            slots_of(bucket).filter_map(move |(held, handle)| (held == hash).then_some(handle))
        })
    }

    /// Adds a handle; false if there is no room, which the caps rule out.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u32, handle: Handle) -> bool {
        let region = self.region(hash);
        // A shard of another table has no room at all.
        if region.used + 1 > (region.mask + 1) * SLOTS as u32 / 8 * 5 * u32::from(region.mask != 0)
            && !self.grow(hash)
        {
            return false;
        }
        let region = self.region(hash);
        place(&mut self.buckets, region, hash, handle.wrapping_add(1));
        self.region_mut(hash).used += 1;
        true
    }

    /// Removes a handle. A later one that belongs further up takes its place.
    pub(crate) fn remove(&mut self, hash: u32, handle: Handle) {
        let region = self.region(hash);
        let mut at = region.home(hash);
        let mut hole = None;
        for _ in 0..=region.mask {
            let Some(bucket) = self.buckets.get(at) else {
                return;
            };
            let (hashes, handles) = bucket.split_at(SLOTS);
            let slots = hashes.iter().zip(handles);
            hole = { slots }.position(|slot| slot == (&hash, &handle.wrapping_add(1)));
            if hole.is_some() || has_room(bucket) {
                break;
            }
            at = region.after(at);
        }
        let Some(mut hole) = hole else {
            return;
        };
        // Handles after a full bucket may be there only because it was full.
        let mut from = at;
        while self
            .buckets
            .get(from)
            .is_some_and(|bucket| !has_room(bucket))
        {
            from = region.after(from);
            if from == at {
                break;
            }
            let Some((slot, held, value)) = self.displaced(region, at, from) else {
                continue;
            };
            self.set(at, hole, (held, value));
            (at, hole) = (from, slot);
        }
        self.set(at, hole, (0, 0));
        self.region_mut(hash).used -= 1;
    }

    /// A slot of bucket `from` that may move up to bucket `to`: its home is not after `to`.
    fn displaced(&self, region: Region, to: usize, from: usize) -> Option<(usize, u32, u32)> {
        let mask = region.mask as usize;
        let (hashes, handles) = self.buckets.get(from)?.split_at(SLOTS);
        let slots = hashes.iter().zip(handles).enumerate();
        let back = |bucket: usize| from.wrapping_sub(bucket) & mask;
        { slots }
            .find(|&(_, (&hash, &value))| value != 0 && back(region.home(hash)) >= back(to))
            .map(|(slot, (&hash, &value))| (slot, hash, value))
    }

    fn set(&mut self, bucket: usize, slot: usize, (hash, value): (u32, u32)) {
        if let Some(bucket) = self.buckets.get_mut(bucket) {
            bucket[slot % SLOTS] = hash;
            bucket[SLOTS + slot % SLOTS] = value;
        }
    }

    /// All handles of a shard, in no particular order.
    pub(crate) fn handles(&self, shard: Shard) -> impl Iterator<Item = Handle> + '_ {
        let region = self.regions[usize::from(shard.0)];
        let buckets = self.buckets.get(region.range()).unwrap_or_default();
        buckets.iter().flat_map(slots_of).map(|slot| slot.1)
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
        let new = Region {
            start: (self.shard_count as usize + nth) << class,
            mask: (1 << class) - 1,
            used: old.used,
        };
        for at in old.range() {
            let bucket = self.buckets.get(at).copied().unwrap_or_default();
            for (hash, handle) in slots_of(&bucket) {
                place(&mut self.buckets, new, hash, handle.wrapping_add(1));
            }
        }
        *self.region_mut(hash) = new;
        self.leave(old.class());
        true
    }

    /// Counts a shard that left a class; after the last one the memory of the class goes back to
    /// the system.
    // PERF: giving it back shard by shard would take 1,500 calls and split huge pages.
    fn leave(&mut self, class: u32) {
        if let Some(left) = self.left.get_mut(class as usize) {
            *left += 1;
            if *left == self.shard_count {
                let start = (self.shard_count as usize) << class;
                // Pages that stay resident are never read again: no shard comes back.
                let _resident = self.buckets.discard(start..2 * start);
            }
        }
    }

    /// Empties the region of a shard, which keeps its size.
    pub(crate) fn clear(&mut self, shard: Shard) {
        let region = &mut self.regions[usize::from(shard.0)];
        region.used = 0;
        if let Some(buckets) = self.buckets.get_mut(region.range()) {
            buckets.fill(Bucket::default());
        }
    }

    #[inline]
    fn region(&self, hash: u32) -> Region {
        self.regions[usize::from(Shard::of_hash(hash).0)]
    }

    #[inline]
    fn region_mut(&mut self, hash: u32) -> &mut Region {
        &mut self.regions[usize::from(Shard::of_hash(hash).0)]
    }
}

/// Stores a handle, plus one, in the first empty slot from its bucket on.
#[inline]
fn place(buckets: &mut Reserved<Bucket>, region: Region, hash: u32, value: u32) {
    let mut at = region.home(hash);
    for _ in 0..=region.mask {
        let Some(bucket) = buckets.get_mut(at) else {
            return;
        };
        let (hashes, handles) = bucket.split_at_mut(SLOTS);
        if let Some(slot) = handles.iter().position(|&value| value == 0)
            && let (Some(held), Some(handle)) = (hashes.get_mut(slot), handles.get_mut(slot))
        {
            (*held, *handle) = (hash, value);
            return;
        }
        at = region.after(at);
    }
}

/// 64 slots per shard at first: 128 KiB for all shards.
const CLASS_MIN: u32 = 3;
/// The hash has no more bits: 24 below the shard, three of them for the slots of a bucket.
const CLASS_MAX: u32 = 21;
