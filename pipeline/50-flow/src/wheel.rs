//! The timer wheel: which connections to look at when stream time passes.
//!
//! ```text
//!  heads │ g+1 │ g+2 │ … │ g+8191 │     a slot a granule (67 ms), 550 s ahead
//!           └► links[a] ⇄ links[b] ⇄ …  two handles an entry, in an array of their own
//! ```
//!
//! It only collects: whether a connection has ended is decided by its deadline, exactly. An entry
//! stays where it was linked while its deadline moves away, and is linked again when its slot is
//! reached; only a deadline that comes nearer moves it at once. So a packet costs nothing here.
//!
//! The links lie apart from the entries: eight of them share a line, so that taking one out
//! rarely misses the cache.

use crate::GRANULE_NS;
use crate::entry::{Handle, NIL, UNLINKED};
use flowpin_memory::Reserved;
use flowpin_packet::Timestamp;
use std::io;

/// Slots: a power of two, so that a granule's slot is its low bits.
const SLOTS: u64 = 8192;

/// See the module.
#[derive(Debug)]
pub(crate) struct Wheel {
    heads: Box<[Handle]>,
    links: Reserved<[Handle; 2]>,
    /// All slots up to this granule were collected.
    granule: u64,
}

impl Wheel {
    pub(crate) fn new(capacity: u32) -> io::Result<Self> {
        let mut links = Reserved::new(capacity as usize)?;
        // A machine without huge pages is slower, nothing else.
        let _unavailable = links.prefer_huge_pages();
        Ok(Self {
            heads: vec![NIL; SLOTS as usize].into_boxed_slice(),
            links,
            granule: 0,
        })
    }

    /// Goes to a later granule without collecting: only while nothing is linked.
    pub(crate) fn skip_to(&mut self, granule: u64) {
        self.granule = self.granule.max(granule);
    }

    /// Goes to a later granule and returns the slots to collect, each once however far it is.
    pub(crate) fn go_to(&mut self, granule: u64) -> impl Iterator<Item = u16> + use<> {
        let from = self.granule;
        let steps = granule.saturating_sub(from).min(SLOTS);
        self.granule = from.max(granule);
        (1..=steps).map(move |step| slot_of(from + step))
    }

    /// The first entry of the granule that has begun but not ended; the others hang on it by
    /// [`Wheel::after`].
    pub(crate) fn next_up(&self) -> Handle {
        let slot = slot_of(self.granule + 1);
        self.heads.get(usize::from(slot)).copied().unwrap_or(NIL)
    }

    /// Empties a slot; its entries hang together by [`Wheel::after`].
    pub(crate) fn take(&mut self, slot: u16) -> Handle {
        self.heads
            .get_mut(usize::from(slot))
            .map_or(NIL, |head| core::mem::replace(head, NIL))
    }

    /// The entry behind another one of the same slot.
    #[inline]
    pub(crate) fn after(&self, handle: Handle) -> Handle {
        self.links.get(handle as usize).map_or(NIL, |link| link[1])
    }

    /// Links an entry to be looked at when `due` has passed; returns its slot.
    pub(crate) fn link(&mut self, handle: Handle, due: Timestamp) -> u16 {
        let granule = granule_of(due).clamp(self.granule + 1, self.granule + SLOTS - 1);
        let slot = slot_of(granule);
        let Some(head) = self.heads.get_mut(usize::from(slot)) else {
            return UNLINKED;
        };
        let next = core::mem::replace(head, handle);
        self.set(handle, [NIL, next]);
        if let Some(link) = self.links.get_mut(next as usize) {
            link[0] = handle;
        }
        slot
    }

    /// Takes an entry out of its slot.
    pub(crate) fn unlink(&mut self, handle: Handle, slot: u16) {
        let Some(&[previous, next]) = self.links.get(handle as usize) else {
            return;
        };
        if previous == NIL {
            if let Some(head) = self.heads.get_mut(usize::from(slot)) {
                *head = next;
            }
        } else if let Some(link) = self.links.get_mut(previous as usize) {
            link[1] = next;
        }
        if let Some(link) = self.links.get_mut(next as usize) {
            link[0] = previous;
        }
    }

    /// Whether an entry in `slot` is looked at in time for `due`.
    #[inline]
    pub(crate) fn is_in_time(&self, slot: u16, due: Timestamp) -> bool {
        if slot == UNLINKED {
            return false;
        }
        let ahead = u64::from(slot).wrapping_sub(self.granule + 1) & (SLOTS - 1);
        self.granule + 1 + ahead <= granule_of(due)
    }

    fn set(&mut self, handle: Handle, links: [Handle; 2]) {
        if let Some(link) = self.links.get_mut(handle as usize) {
            *link = links;
        }
    }

    /// Forgets all entries.
    pub(crate) fn clear(&mut self) {
        self.heads.fill(NIL);
    }
}

/// The first granule by which `due` has passed.
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
    use crate::entry::NIL;
    use flowpin_packet::Timestamp;

    fn at(granule: u64) -> Timestamp {
        Timestamp(granule * GRANULE_NS)
    }

    fn collect(wheel: &mut Wheel, granule: u64) -> Vec<u32> {
        let slots: Vec<u16> = wheel.go_to(granule).collect();
        let mut found = Vec::new();
        for slot in slots {
            let mut handle = wheel.take(slot);
            while handle != NIL {
                found.push(handle);
                handle = wheel.after(handle);
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

    /// Any entry can leave its slot: first, last, in the middle, alone.
    #[test]
    fn entries_leave_from_anywhere() {
        for gone in [vec![], vec![2], vec![0], vec![1], vec![0, 1, 2], vec![2, 1]] {
            let mut wheel = Wheel::new(10).unwrap();
            let slot = (0..3)
                .map(|handle| wheel.link(handle, at(9)))
                .last()
                .unwrap();
            for &handle in &gone {
                wheel.unlink(handle, slot);
            }
            let left: Vec<u32> = (0..3).filter(|handle| !gone.contains(handle)).collect();
            assert_eq!(collect(&mut wheel, 9), left);
        }
    }

    /// A deadline beyond the wheel is looked at early; one that comes nearer must move.
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
