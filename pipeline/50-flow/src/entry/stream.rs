//! The parts of a stream seen beyond its first hole: enough to tell a late packet from a lost one.
//!
//! Keeps sequence numbers only, no bytes. Up to [`Islands::MAX`] runs of bytes beyond a hole. If
//! there are more, the two runs with the smallest hole between them are joined, so that a hole may
//! be missed but never invented.

use flowpin_packet::Seq;

/// Runs of bytes seen beyond a hole: disjoint, in order, none empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Islands {
    runs: [(Seq, Seq); Self::MAX],
    count: u8,
}

impl Islands {
    const MAX: usize = 4;

    pub(crate) const NONE: Self = Self {
        runs: [(Seq(0), Seq(0)); Self::MAX],
        count: 0,
    };

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// One past the last byte; `None` if there is no run.
    pub(crate) fn end(&self) -> Option<Seq> {
        self.runs().last().map(|run| run.1)
    }

    /// Adds `from..to`, which lies beyond the first hole.
    pub(crate) fn insert(&mut self, from: Seq, to: Seq) {
        if !to.is_after(from) {
            return;
        }
        let (mut from, mut to) = (from, to);
        let mut kept = [(Seq(0), Seq(0)); Self::MAX + 1];
        let mut count = 0;
        let mut place = 0;
        for &(start, end) in self.runs() {
            if start.is_after(to) {
                // After the new run.
            } else if from.is_after(end) {
                place = count + 1;
            } else {
                // They touch: one run.
                from = if from.is_after(start) { start } else { from };
                to = if end.is_after(to) { end } else { to };
                continue;
            }
            if let Some(slot) = kept.get_mut(count) {
                *slot = (start, end);
                count += 1;
            }
        }
        // Make room at `place`: at most MAX runs were kept, and there is one more place.
        if let Some(tail) = kept.get_mut(place..=count) {
            tail.rotate_right(1);
            if let Some(slot) = tail.first_mut() {
                *slot = (from, to);
            }
            count += 1;
        }
        self.store(&mut kept, count);
    }

    /// Moves `next` past all runs that it touches.
    pub(crate) fn absorb(&mut self, next: Seq) -> Seq {
        let mut next = next;
        let mut gone = 0;
        for &(start, end) in self.runs() {
            if start.is_after(next) {
                break;
            }
            next = if end.is_after(next) { end } else { next };
            gone += 1;
        }
        self.runs.rotate_left(gone);
        self.count = self.count.saturating_sub(gone as u8);
        next
    }

    /// Bytes of `from..to` that no run covers.
    pub(crate) fn uncovered(&self, from: Seq, to: Seq) -> u32 {
        let span = to.distance_from(from).max(0).unsigned_abs();
        let covered: u32 = self
            .runs()
            .iter()
            .map(|&(start, end)| {
                let start = start.distance_from(from).clamp(0, span.cast_signed());
                let end = end.distance_from(from).clamp(0, span.cast_signed());
                (end - start).max(0).unsigned_abs()
            })
            .sum();
        span.saturating_sub(covered)
    }

    fn runs(&self) -> &[(Seq, Seq)] {
        self.runs.get(..usize::from(self.count)).unwrap_or_default()
    }

    fn store(&mut self, runs: &mut [(Seq, Seq); Self::MAX + 1], mut count: usize) {
        if count > Self::MAX {
            // Close the smallest hole, the first of equals.
            let smallest = (0..Self::MAX)
                .min_by_key(|&at| match (runs.get(at), runs.get(at + 1)) {
                    (Some(left), Some(right)) => right.0.distance_from(left.1),
                    _ => i32::MAX,
                })
                .unwrap_or(0);
            if let Some([left, right, ..]) = runs.get_mut(smallest..) {
                *right = (left.0, right.1);
            }
            if let Some(tail) = runs.get_mut(smallest..) {
                tail.rotate_left(1);
            }
            count = Self::MAX;
        }
        for (to, from) in self.runs.iter_mut().zip(runs.iter()) {
            *to = *from;
        }
        self.count = count as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::Islands;
    use flowpin_packet::Seq;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// With few runs they are exactly the set of bytes inserted, also if sequence numbers wrap;
        /// with many, never fewer.
        #[test]
        fn runs_are_the_set_of_bytes_seen(
            base in prop_oneof![any::<u32>(), (u32::MAX - 60)..=u32::MAX],
            inserts in prop::collection::vec((1u32..60, 1u32..8), 0..12),
        ) {
            let at = |offset: u32| Seq(base.wrapping_add(offset));
            let mut islands = Islands::NONE;
            let mut model = BTreeSet::new();
            let mut merged = false;
            for (from, len) in inserts {
                islands.insert(at(from), at(from + len));
                model.extend(from..from + len);
                let runs = model.iter().filter(|&&b| !model.contains(&(b - 1))).count();
                merged |= runs > Islands::MAX;
                let uncovered = islands.uncovered(at(0), at(70)) as usize;
                if merged {
                    prop_assert!(uncovered <= 70 - model.len());
                } else {
                    prop_assert_eq!(uncovered, 70 - model.len());
                    prop_assert_eq!(islands.runs().len(), runs);
                }
                prop_assert_eq!(islands.end(), model.last().map(|&last| at(last + 1)));
                for pair in islands.runs().windows(2) {
                    prop_assert!(pair[1].0.is_after(pair[0].1));
                }
            }
            let next = islands.absorb(at(100));
            prop_assert_eq!(next, at(100));
            prop_assert!(islands.is_empty());
        }
    }

    /// The byte that fills the hole releases the bytes after it, and no more.
    #[test]
    fn filling_a_hole_releases_the_runs_behind_it() {
        let mut islands = Islands::NONE;
        islands.insert(Seq(20), Seq(30));
        islands.insert(Seq(40), Seq(50));
        assert_eq!(islands.absorb(Seq(10)), Seq(10));
        assert_eq!(islands.absorb(Seq(20)), Seq(30));
        assert_eq!(islands.uncovered(Seq(30), Seq(60)), 20);
        assert_eq!(islands.absorb(Seq(45)), Seq(50));
        assert!(islands.is_empty());
    }
}
