//! Sources that have asked one thing: nearly all of those of a flood, which never ask again.
//!
//! ```text
//!  places │ · │ 3 │ · │ 1 │ 2 │ ·      by the source's hash: place in the row and one, 0 if none
//!  row    │ attempt │ attempt │ attempt │ …     in the order in which they came
//! ```
//!
//! A flood brings 100,000 of them an interval. Each costs a look at one place and a line written
//! behind the last; all that a source needs to be judged is made when it asks again.

use super::sources::Asker;
use super::targets::Outcome;
use crate::hash::Keyed;
use crate::summary::Attempt;
use std::hash::BuildHasher;

/// The one thing that a source asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct First {
    pub(super) attempt: Attempt,
    /// When it came.
    pub(super) interval: u64,
    /// How many attempts of the source were probably not logged.
    pub(super) missed: u32,
    pub(super) outcome: Outcome,
    /// It asked again, and is elsewhere.
    is_gone: bool,
}

impl First {
    pub(super) const fn new(
        attempt: Attempt,
        interval: u64,
        outcome: Outcome,
        missed: u32,
    ) -> Self {
        Self {
            attempt,
            interval,
            missed,
            outcome,
            is_gone: false,
        }
    }

    pub(super) const fn asker(&self) -> Asker {
        Asker::of(&self.attempt)
    }
}

#[derive(Debug, Default)]
pub(super) struct Firsts {
    row: Vec<First>,
    /// A power of two, or none; at most half of them taken.
    places: Vec<u32>,
    hasher: Keyed,
    gone: usize,
}

/// Places that there are at least, once there are any.
const PLACES_MIN: usize = 1 << 10;

impl Firsts {
    /// Sources that are here.
    pub(super) const fn len(&self) -> usize {
        self.row.len() - self.gone
    }

    /// Adds what a source asked. If it is here, it is no longer, nothing is added, and what it had
    /// asked is returned.
    pub(super) fn add_or_take(&mut self, first: First) -> Option<First> {
        if self.row.len() >= self.places.len() / 2 {
            self.make_room();
        }
        let asker = first.asker();
        match self.find(&asker) {
            Ok(known) => Some(self.remove(known)),
            Err(place) => {
                self.row.push(first);
                if let Some(to) = self.places.get_mut(place) {
                    *to = u32::try_from(self.row.len()).unwrap_or(0);
                }
                None
            }
        }
    }

    /// What a source had asked that is here; it is no longer.
    pub(super) fn take(&mut self, asker: &Asker) -> Option<First> {
        self.find(asker).ok().map(|known| self.remove(known))
    }

    /// Asks for the place at which a source will be looked for.
    #[inline]
    pub(super) fn prefetch(&self, asker: &Asker) {
        let place = self.hash(asker) & self.places.len().wrapping_sub(1);
        flowpin_cpu::prefetch::read_at(&self.places, place);
    }

    /// Those that are here, in the order in which they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = &First> {
        self.row.iter().filter(|first| !first.is_gone)
    }

    /// Forgets those that `keep` is false for.
    pub(super) fn retain(&mut self, keep: impl Fn(&First) -> bool) {
        self.row.retain(|first| !first.is_gone && keep(first));
        self.gone = 0;
        self.point(self.places.len());
    }

    /// Where a source stands in the row, or else the place that is free for it.
    fn find(&self, asker: &Asker) -> Result<usize, usize> {
        let mask = self.places.len().wrapping_sub(1);
        let mut place = self.hash(asker) & mask;
        // At least every other place is free.
        while let Some(&known) = self.places.get(place) {
            let Some(index) = (known as usize).checked_sub(1) else {
                break;
            };
            let first = self.row.get(index);
            if first.is_some_and(|first| !first.is_gone && first.asker() == *asker) {
                return Ok(index);
            }
            place = (place + 1) & mask;
        }
        Err(place)
    }

    fn remove(&mut self, index: usize) -> First {
        let first = &mut self.row[index];
        first.is_gone = true;
        self.gone += 1;
        *first
    }

    #[cold]
    fn make_room(&mut self) {
        if self.gone > self.row.len() / 2 {
            self.row.retain(|first| !first.is_gone);
            self.gone = 0;
        }
        self.point((4 * self.row.len()).next_power_of_two().max(PLACES_MIN));
    }

    /// Makes the table anew.
    fn point(&mut self, places: usize) {
        self.places.clear();
        self.places.resize(places, 0);
        let mask = places.wrapping_sub(1);
        for (index, first) in self.row.iter().enumerate() {
            if first.is_gone {
                continue;
            }
            let mut place = self.hash(&first.asker()) & mask;
            while self.places.get(place).is_some_and(|&known| known != 0) {
                place = (place + 1) & mask;
            }
            if let Some(to) = self.places.get_mut(place) {
                *to = u32::try_from(index + 1).unwrap_or(0);
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "masked")]
    fn hash(&self, asker: &Asker) -> usize {
        self.hasher.hash_one(asker) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{First, Firsts};
    use crate::event::{Probe, Steps};
    use crate::merger::targets::Outcome;
    use crate::summary::Attempt;
    use flowpin_packet::Timestamp;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn first(source: u8, number: u64) -> First {
        let attempt = Attempt {
            source: [source; 16],
            target: [0; 16],
            time: Timestamp(0),
            number,
            handle: 0,
            before: 0,
            port: 0,
            steps: Steps::NONE,
            probe: if source.is_multiple_of(3) {
                Probe::Syn
            } else {
                Probe::Udp
            },
            ipv6: false,
            shard: 0,
            late: false,
        };
        First::new(attempt, 0, Outcome::Filtered, 0)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        /// As a map from sources to what they asked.
        #[test]
        fn the_row_is_a_map(steps in prop::collection::vec((0u8..5, any::<u8>()), 0..1500)) {
            let (mut firsts, mut model) = (Firsts::default(), BTreeMap::new());
            for (number, (step, source)) in steps.into_iter().enumerate() {
                let number = number as u64;
                let new = first(source, number);
                match step {
                    0 => {
                        let taken = firsts.take(&new.asker()).map(|first| first.attempt.number);
                        prop_assert_eq!(taken, model.remove(&source));
                    }
                    1 if source < 5 => {
                        firsts.retain(|first| first.attempt.number.is_multiple_of(2));
                        model.retain(|_, number| number.is_multiple_of(2));
                    }
                    _ => {
                        let taken = firsts.add_or_take(new).map(|first| first.attempt.number);
                        let known = model.remove(&source);
                        if known.is_none() {
                            model.insert(source, number);
                        }
                        prop_assert_eq!(taken, known);
                    }
                }
                prop_assert_eq!(firsts.len(), model.len());
            }
            let mut left: Vec<_> = model.into_values().collect();
            left.sort_unstable();
            let row: Vec<_> = firsts.iter().map(|first| first.attempt.number).collect();
            prop_assert_eq!(row, left);
        }
    }
}
