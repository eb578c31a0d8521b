//! Which leads fit which bytes.

use super::{Candidate, Set};
use std::collections::HashMap;

/// By place of a byte and its value: those whose leads it fits.
// PERF: lists by first byte were 40 bytes for each of up to 60 leads, which a datagram that begins
// with a random number had to fetch and to compare: 230 cycles a look. A row for each value made
// 60, but took 98 KiB, which packets drove out of the nearest cache; as many rows as differ take
// few.
#[derive(Debug)]
pub(super) struct Rows {
    places: Vec<Place>,
    rows: Vec<Set>,
}

#[derive(Debug)]
struct Place {
    at: usize,
    /// By value: its row, behind the first one of this place.
    classes: [u8; 256],
    first: usize,
}

/// Bytes that leads look at without saying so.
const NEAR: u8 = 8;

impl Rows {
    pub(super) fn of(all: &[Candidate]) -> Self {
        let mut rows = Self {
            places: Vec::new(),
            rows: Vec::new(),
        };
        // What looks only far away would fit nearly everything.
        let lonely = all.iter().filter(|one| one.lead.looks_only_far());
        let mut far: Vec<u8> = lonely.map(|one| one.lead.far.0).collect();
        far.sort_unstable();
        far.dedup();
        for at in (0..NEAR).chain(far.into_iter().filter(|&at| at >= NEAR)) {
            rows.add(all, at);
        }
        rows
    }

    fn add(&mut self, all: &[Candidate], at: u8) {
        let mut place = Place {
            at: usize::from(at),
            classes: [0; 256],
            first: self.rows.len(),
        };
        // PERF: most leads look at few places, and a run begins with this.
        let anything = Set::of(all.iter().map(|one| !one.lead.looks_at(at)));
        let looking = all.iter().enumerate();
        let looking: Vec<_> = looking.filter(|(_, one)| one.lead.looks_at(at)).collect();
        let mut known: HashMap<Set, u8> = HashMap::new();
        for (byte, class) in (0..=u8::MAX).zip(&mut place.classes) {
            let mut row = anything;
            for (index, one) in &looking {
                if one.lead.fits_at(at, byte) {
                    row.insert(*index);
                }
            }
            // At most as many as a byte has values.
            let fresh = u8::try_from(known.len()).unwrap_or(u8::MAX);
            *class = *known.entry(row).or_insert_with(|| {
                self.rows.push(row);
                fresh
            });
        }
        self.places.push(place);
    }

    /// Leaves those whose leads fit as far as bytes are there.
    #[inline]
    pub(super) fn keep(&self, set: Set, bytes: &[u8]) -> Set {
        let mut set = set;
        for place in &self.places {
            let Some(&byte) = bytes.get(place.at) else {
                break;
            };
            let class = place.classes.get(usize::from(byte)).copied().unwrap_or(0);
            if let Some(row) = self
                .rows
                .get(place.first.saturating_add(usize::from(class)))
            {
                set = set.and(row);
            }
        }
        set
    }
}
