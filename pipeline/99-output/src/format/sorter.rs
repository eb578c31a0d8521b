//! Puts entries in order, most of which are.
//!
//! ```text
//!  as they came   1 3 4 2 6 7 5      what packets cause comes in order, what fell due before late
//!  in order       1 3 4 6 7 ─┐
//!  late           2 5 ───────┴─► sorted by themselves, then merged from behind
//! ```

use crate::batch::Entry;
use core::cmp::Ordering;

/// Sorts entries; keeps its memory.
// PERF: sorted as one, entries of 56 bytes were moved some ten times each: 25 cycles a packet of
// the multiplied mix trace with EVE.
#[derive(Debug, Default)]
pub(super) struct Sorter {
    late: Vec<Entry>,
    /// Of the late ones: time and place, which are sorted in their stead.
    places: Vec<(u64, u32)>,
}

impl Sorter {
    /// Sorts by [`Entry::order`].
    pub(super) fn sort(&mut self, entries: &mut Vec<Entry>) {
        self.late.clear();
        // What a flood needed would otherwise be kept for ever.
        self.late.shrink_to(KEPT_MAX);
        self.places.clear();
        self.places.shrink_to(KEPT_MAX);
        let mut last: Option<Entry> = None;
        entries.retain(|entry| {
            let is_late = last.is_some_and(|last| entry.order(&last).is_lt());
            if is_late {
                self.late.push(*entry);
            } else {
                last = Some(*entry);
            }
            !is_late
        });
        if !self.late.is_empty() {
            self.sort_late();
            self.merge(entries);
        }
    }

    fn sort_late(&mut self) {
        let late = self.late.as_slice();
        let places = (0..)
            .zip(late)
            .map(|(place, entry)| (entry.key.time.0, place));
        self.places.extend(places);
        self.places.sort_unstable_by(|first, second| {
            let entry = |place: u32| late.get(place as usize);
            first.0.cmp(&second.0).then_with(|| {
                let both = entry(first.1).zip(entry(second.1));
                // Equal ones, such as the events of one connection's two directions, as they came.
                both.map_or(Ordering::Equal, |(one, other)| one.order(other))
                    .then(first.1.cmp(&second.1))
            })
        });
    }

    /// The late ones, sorted, take their places among the others.
    fn merge(&self, entries: &mut Vec<Entry>) {
        let mut left = entries.len();
        // Only for the room: all of it is written.
        entries.extend_from_slice(&self.late);
        let mut to = entries.len();
        for &(_, place) in self.places.iter().rev() {
            let Some(entry) = self.late.get(place as usize) else {
                return;
            };
            let before = entries.get(..left).unwrap_or_default().iter().rev();
            let behind = before.take_while(|other| entry.order(other).is_lt());
            let count = behind.count();
            entries.copy_within(left - count..left, to - count);
            left -= count;
            to -= count + 1;
            if let Some(free) = entries.get_mut(to) {
                *free = *entry;
            }
        }
    }
}

/// Late entries for which memory is kept: some 600 kB.
const KEPT_MAX: usize = 1 << 13;

#[cfg(test)]
mod tests {
    use super::Sorter;
    use crate::batch::{Entry, TextLens};
    use flowpin_packet::Timestamp;
    use flowpin_record::{RecordKey, RecordType};
    use proptest::prelude::*;

    fn entry((time, number, tie): (u64, u64, u64)) -> Entry {
        Entry {
            key: RecordKey {
                time: Timestamp(time),
                number,
                ordinal: 0,
            },
            tie,
            offset: 0,
            lens: TextLens::default(),
            row: 0,
            record_type: RecordType::Conn,
        }
    }

    proptest! {
        /// As the standard library would have it, also where many have the same time, and though
        /// the sorter has sorted before.
        #[test]
        fn entries_come_in_order(all in prop::collection::vec(
            prop::collection::vec((0_u64..9, 0_u64..4, 0_u64..3), 0..60), 1..3,
        )) {
            let mut sorter = Sorter::default();
            for entries in all {
                let mut expected = entries.clone();
                expected.sort_unstable();
                let mut entries = entries.into_iter().map(entry).collect();
                sorter.sort(&mut entries);
                let found = entries.iter().map(|one| (one.key.time.0, one.key.number, one.tie));
                prop_assert_eq!(found.collect::<Vec<_>>(), expected);
            }
        }
    }
}
