//! The timer wheel: which connections to check as stream time advances.
//!
//! ```text
//!  heads │ g+1 │ g+2 │ … │ g+8191 │     a slot per granule (67 ms), 550 s ahead
//!           └► block ─► block ─► …      15 handles each, one cache line
//! ```
//!
//! It only collects: the deadline decides exactly whether a connection has ended. An entry stays in
//! its slot while its deadline moves away, and is linked again when that slot is reached; only a
//! deadline that moves closer relinks it at once. So a packet costs nothing here.
//!
//! Handles are never removed: the entry knows its slot, so a handle in any other slot is stale and
//! is skipped when that slot is collected. If stale handles fill all blocks, [`Wheel::retain`]
//! drops them.
// PERF: handles are stored side by side, not chained: a chain costs one cache miss per step, both
// to walk it and to leave it (a fifth of what a short connection cost).

use crate::GRANULE_NS;
use crate::entry::{Handle, NIL, UNLINKED};
use flowpin_memory::Slab;
use flowpin_packet::Timestamp;
use std::io;

/// Number of slots: a power of two, so that the low bits of a granule select its slot.
pub(crate) const SLOTS: u64 = 8192;

/// See the module documentation.
#[derive(Debug)]
pub(crate) struct Wheel {
    heads: Box<[Head]>,
    blocks: Slab<Block>,
    /// All slots up to this granule were collected.
    granule: u64,
}

/// A slot: its newest block, and the number of handles in that block.
#[derive(Clone, Copy, Debug)]
struct Head {
    block: u32,
    count: u32,
}

const EMPTY: Head = Head {
    block: NIL,
    count: 0,
};

/// Handles of one slot, and the next block of the same slot. Unused places hold [`NIL`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) handles: [Handle; BLOCK],
    pub(crate) next: u32,
}

/// Handles per block.
const BLOCK: usize = 15;
const _: () = assert!(size_of::<Block>() == 64);

impl Wheel {
    /// A wheel for `capacity` entries, with room for as many stale handles.
    pub(crate) fn new(capacity: u32) -> io::Result<Self> {
        let blocks = u64::from(capacity) * 2 / BLOCK as u64 + 2 * SLOTS;
        let mut blocks = Slab::with_capacity(u32::try_from(blocks).unwrap_or(u32::MAX - 1))?;
        // Without huge pages the program is slower; nothing else changes.
        let _unavailable = blocks.prefer_huge_pages();
        Ok(Self {
            heads: vec![EMPTY; SLOTS as usize].into_boxed_slice(),
            blocks,
            granule: 0,
        })
    }

    /// Advances to a later granule without collecting: only while nothing is linked.
    pub(crate) fn skip_to(&mut self, granule: u64) {
        self.granule = self.granule.max(granule);
    }

    /// Advances to a later granule and returns the slots to collect, each once however far it is.
    pub(crate) fn go_to(&mut self, granule: u64) -> impl Iterator<Item = u16> + Clone + use<> {
        let from = self.granule;
        let steps = granule.saturating_sub(from).min(SLOTS);
        self.granule = from.max(granule);
        (1..=steps).map(move |step| slot_of(from + step))
    }

    /// The last granule that was collected, and its slot.
    pub(crate) fn now(&self) -> (u64, u16) {
        (self.granule, slot_of(self.granule))
    }

    /// The slot of the granule that has begun but not ended.
    pub(crate) fn next_up(&self) -> u16 {
        slot_of(self.granule + 1)
    }

    /// Empties a slot; returns its first block.
    pub(crate) fn take(&mut self, slot: u16) -> u32 {
        self.heads
            .get_mut(usize::from(slot))
            .map_or(NIL, |head| core::mem::replace(head, EMPTY).block)
    }

    /// The handles of a block of a slot that was taken; frees the block.
    #[inline]
    pub(crate) fn open(&mut self, block: u32) -> Option<Block> {
        let opened = self.blocks.get(block).copied()?;
        self.blocks.remove(block);
        Some(opened)
    }

    /// Links an entry so that it is checked after `due`; returns its slot. [`UNLINKED`] if all
    /// blocks are full: [`Wheel::retain`] makes room.
    #[inline]
    pub(crate) fn link(&mut self, handle: Handle, due: Timestamp) -> u16 {
        let granule = granule_of(due).clamp(self.granule + 1, self.granule + SLOTS - 1);
        let slot = slot_of(granule);
        if self.push(slot, handle) {
            slot
        } else {
            UNLINKED
        }
    }

    /// Adds an entry to a slot; false if all blocks are full.
    #[inline]
    pub(crate) fn push(&mut self, slot: u16, handle: Handle) -> bool {
        let Some(head) = self.heads.get_mut(usize::from(slot)) else {
            return false;
        };
        if let Some(block) = self.blocks.get_mut(head.block)
            && let Some(place) = block.handles.get_mut(head.count as usize)
        {
            *place = handle;
            head.count += 1;
            return true;
        }
        let mut handles = [NIL; BLOCK];
        handles[0] = handle;
        let next = head.block;
        let Some(block) = self.blocks.insert(Block { handles, next }) else {
            return false;
        };
        *head = Head { block, count: 1 };
        true
    }

    /// Whether an entry in `slot` is checked in time for `due`.
    #[inline]
    pub(crate) fn is_in_time(&self, slot: u16, due: Timestamp) -> bool {
        if slot == UNLINKED {
            return false;
        }
        let ahead = u64::from(slot).wrapping_sub(self.granule + 1) & (SLOTS - 1);
        self.granule + 1 + ahead <= granule_of(due)
    }

    /// Keeps the handles for which `keeps` returns true, given their slot.
    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(Handle, u16) -> bool) {
        for slot in 0..SLOTS as u16 {
            let mut next = self.take(slot);
            while let Some(block) = self.open(next) {
                next = block.next;
                for handle in block.handles {
                    if handle != NIL && keeps(handle, slot) {
                        // There is room: the blocks opened here were freed before.
                        self.push(slot, handle);
                    }
                }
            }
        }
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.heads.fill(EMPTY);
        // Memory that the system does not take back is reused.
        let _refused = self.blocks.clear();
    }
}

/// The first granule after `due` has passed.
#[inline]
fn granule_of(due: Timestamp) -> u64 {
    due.0.div_ceil(GRANULE_NS)
}

#[inline]
fn slot_of(granule: u64) -> u16 {
    (granule & (SLOTS - 1)) as u16
}

#[cfg(test)]
mod tests {
    use super::{SLOTS, Wheel};
    use crate::GRANULE_NS;
    use crate::entry::{NIL, UNLINKED};
    use flowpin_packet::Timestamp;

    fn at(granule: u64) -> Timestamp {
        Timestamp(granule * GRANULE_NS)
    }

    fn collect(wheel: &mut Wheel, granule: u64) -> Vec<u32> {
        let slots: Vec<u16> = wheel.go_to(granule).collect();
        let mut found = Vec::new();
        for slot in slots {
            let mut next = wheel.take(slot);
            while let Some(block) = wheel.open(next) {
                found.extend(block.handles.iter().filter(|&&handle| handle != NIL));
                next = block.next;
            }
        }
        found.sort_unstable();
        found
    }

    /// A deadline is collected by the first granule that is not before it, not earlier.
    #[test]
    fn a_deadline_is_collected_at_the_granule_that_covers_it() {
        let mut wheel = Wheel::new(10).unwrap();
        wheel.skip_to(1000);
        wheel.link(0, at(1005));
        wheel.link(1, Timestamp(at(1005).0 + 1));
        wheel.link(2, Timestamp(at(1004).0 + 1));
        assert_eq!(collect(&mut wheel, 1004), []);
        assert_eq!(collect(&mut wheel, 1005), [0, 2]);
        assert_eq!(collect(&mut wheel, 1006), [1]);
    }

    /// A leap of a year visits each slot once.
    #[test]
    fn a_leap_visits_each_slot_once() {
        let mut wheel = Wheel::new(10).unwrap();
        wheel.link(3, at(17));
        assert_eq!(wheel.go_to(500_000_000).count() as u64, SLOTS);
        assert_eq!(wheel.go_to(500_000_000).count(), 0);
        assert_eq!(wheel.go_to(3).count(), 0);
        assert_eq!(wheel.granule, 500_000_000);
    }

    /// More entries than a block holds stay together, and each is returned once.
    #[test]
    fn a_slot_holds_any_number_of_entries() {
        let mut wheel = Wheel::new(100).unwrap();
        (0..100).for_each(|handle| assert_eq!(wheel.link(handle, at(9)), 9));
        assert_eq!(collect(&mut wheel, 8), []);
        assert_eq!(collect(&mut wheel, 9), Vec::from_iter(0..100));
        assert_eq!(collect(&mut wheel, 9 + SLOTS), []);
    }

    /// A flood of entries that move fills the blocks with stale handles; dropping these makes room
    /// for as many again, and loses no entry.
    #[test]
    fn stale_entries_can_be_dropped() {
        let mut wheel = Wheel::new(10).unwrap();
        let kept = wheel.link(3, at(77));
        let moves = (0..).map(|nth| wheel.link(4, at(200 + nth % 5000)));
        let full = moves.take_while(|&slot| slot != UNLINKED).count();
        assert!(full > 20);
        wheel.retain(|handle, slot| handle == 3 && slot == kept);
        for nth in 0..full as u64 {
            assert_ne!(wheel.link(4, at(200 + nth % 5000)), UNLINKED);
        }
        assert_eq!(collect(&mut wheel, 77), [3]);
    }

    /// A deadline beyond the wheel is checked early; one that moves closer must be relinked.
    #[test]
    fn nearer_deadlines_are_told_from_later_ones() {
        let mut wheel = Wheel::new(10).unwrap();
        wheel.skip_to(100);
        let slot = wheel.link(0, at(200));
        assert!(wheel.is_in_time(slot, at(200)) && wheel.is_in_time(slot, at(100_000)));
        assert!(!wheel.is_in_time(slot, at(199)));
        let far = wheel.link(1, Timestamp::MAX);
        assert!(wheel.is_in_time(far, at(100 + SLOTS - 1)));
        assert!(!wheel.is_in_time(far, at(100 + SLOTS - 2)));
    }
}
