//! The table of rows: open addressing, grown in reserved memory, with at most a fixed number of
//! keys.
//!
//! ```text
//!  count ──► pending (16, their rows prefetched) ──► kept? ──► a row of its own, exact
//!                                                      └─no──► the rest: rows that keys share
//! ```
//!
//! A connection adds to rows that lie anywhere in megabytes. So it waits until the next few have
//! come, and its rows have arrived from memory by then.
//!
//! More keys than fit: only those are kept whose hash begins with a zero bit, then with two, and so
//! on (adaptive sampling, Flajolet, 1990). Whether a key is kept at the end depends on its hash and
//! on how many different keys there are: on no order and no division among workers. A key that
//! is kept at the end was kept from the beginning, so its sums are exact.

use super::rest::{Estimate, Rest};
use super::row::{self, Row, Sums};
use crate::hash::FoldHash;
use flowpin_aggregate::Traffic;
use flowpin_memory::Reserved;
use std::io;

/// Sums by keys of `KEY` words, in rows of `ROW` words.
#[derive(Debug)]
pub(super) struct Table<const KEY: usize, const ROW: usize> {
    /// A table of 2ᵏ rows lies behind those of all smaller ones, so that growing allocates nothing.
    rows: Reserved<Row<ROW>>,
    /// Rows of the table in use: it begins at the row of this number.
    size: usize,
    used: usize,
    keys_max: usize,
    /// Zero bits that the hash of a kept key begins with.
    level: u32,
    /// Places rows. Keyed by a secret, so that no sender can aim at them.
    places: FoldHash,
    pending: [Pending<ROW>; PENDING],
    next: usize,
    rest: Rest<KEY, ROW>,
}

/// Sums that wait for their row.
#[derive(Clone, Copy, Debug)]
struct Pending<const ROW: usize> {
    hash: u64,
    /// Free if none waits.
    row: Row<ROW>,
}

/// What a table holds besides its exact rows.
pub(super) struct Counted<const KEY: usize> {
    pub(super) estimates: Vec<Estimate<KEY>>,
    /// Different keys; an estimate once not all were kept.
    pub(super) keys: u64,
    pub(super) rest: Traffic,
}

impl<const KEY: usize, const ROW: usize> Table<KEY, ROW> {
    /// For at most `keys_max` keys, a power of two.
    pub(super) fn new(keys_max: usize, secret: u64) -> io::Result<Self> {
        // Half full at most.
        let mut rows = Reserved::new(4 * keys_max.max(ROWS_MIN))?;
        // A machine without huge pages is slower, nothing else.
        let _unavailable = rows.prefer_huge_pages();
        Ok(Self {
            rows,
            size: ROWS_MIN,
            used: 0,
            keys_max,
            level: 0,
            places: FoldHash::keyed(secret),
            pending: [Pending {
                hash: 0,
                row: [0; ROW],
            }; PENDING],
            next: 0,
            rest: Rest::new()?,
        })
    }

    /// Adds sums to a key's. Rows of keys that are not kept go to `spill`, too.
    #[inline]
    pub(super) fn count(&mut self, key: [u64; KEY], sums: Sums, spill: &mut impl FnMut(&Row<ROW>)) {
        let hash = self.hash(&key);
        self.rows.prefetch(self.size + self.home(hash));
        self.next = (self.next + 1) % PENDING;
        self.add_pending(self.next, spill);
        if let Some(pending) = self.pending.get_mut(self.next) {
            pending.hash = hash;
            row::set::<KEY, ROW>(&mut pending.row, key, sums);
        }
    }

    /// Adds what waits.
    pub(super) fn flush(&mut self, spill: &mut impl FnMut(&Row<ROW>)) {
        for nth in 0..PENDING {
            self.add_pending(nth, spill);
        }
        for pending in &mut self.pending {
            pending.row = [0; ROW];
        }
    }

    /// Adds another worker's flushed table.
    pub(super) fn add(&mut self, other: &Self, spill: &mut impl FnMut(&Row<ROW>)) {
        while self.level < other.level {
            self.raise(spill);
        }
        self.rest.add(&other.rest);
        for row in other.rows() {
            self.add_row(self.hash(&row::key(row)), row, spill);
        }
    }

    /// All that a flushed table holds besides its exact rows.
    pub(super) fn counted(&self) -> Counted<KEY> {
        // Whoever knows the hash may choose keys of which none is kept; there were this many.
        let least = if self.level > 0 { self.keys_max + 1 } else { 0 };
        let each = 1u64.checked_shl(self.level).unwrap_or(u64::MAX);
        Counted {
            estimates: self.rest.heaviest(),
            keys: (self.used as u64).saturating_mul(each).max(least as u64),
            rest: self.rest.total(),
        }
    }

    /// The exact rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = &Row<ROW>> {
        let rows = self.rows.get(self.size..2 * self.size).unwrap_or_default();
        rows.iter().filter(|row| !row::is_free::<KEY, ROW>(row))
    }

    #[inline]
    fn hash(&self, key: &[u64; KEY]) -> u64 {
        self.places.of_words(key)
    }

    #[inline]
    const fn home(&self, hash: u64) -> usize {
        hash as usize & (self.size - 1)
    }

    #[inline]
    fn add_pending(&mut self, nth: usize, spill: &mut impl FnMut(&Row<ROW>)) {
        if let Some(&Pending { hash, row }) = self.pending.get(nth)
            && !row::is_free::<KEY, ROW>(&row)
        {
            self.add_row(hash, &row, spill);
        }
    }

    #[inline]
    fn add_row(&mut self, hash: u64, row: &Row<ROW>, spill: &mut impl FnMut(&Row<ROW>)) {
        if self.level > 0 && !is_kept(self.level, row::key::<KEY, ROW>(row)) {
            spill(row);
            return self.rest.count(row);
        }
        let home = self.home(hash);
        for step in 0..self.size {
            let place = self.size + ((home + step) & (self.size - 1));
            let Some(held) = self.rows.get_mut(place) else {
                return;
            };
            let is_free = row::is_free::<KEY, ROW>(held);
            if !is_free && row::key::<KEY, ROW>(held) != row::key(row) {
                continue;
            }
            if is_free {
                *held = *row;
                self.used += 1;
                if self.used > self.size / 2 || self.used > self.keys_max {
                    self.make_room(spill);
                }
            } else {
                row::add::<KEY, ROW>(held, row);
            }
            return;
        }
    }

    #[cold]
    fn make_room(&mut self, spill: &mut impl FnMut(&Row<ROW>)) {
        while self.used > self.keys_max {
            self.raise(spill);
        }
        if self.used > self.size / 2 {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let old = self.size..2 * self.size;
        self.size *= 2;
        self.used = 0;
        // Rows lie all over it.
        // PERF: a million packets of 94,800 connections: 21,121 -> 14,050 page faults, and 3 % less
        // processor time.
        self.rows.prefer_huge_pages_in(self.size..2 * self.size);
        // PERF: a free row is read before it is written, so that each page would fault twice, and
        // the second fault interrupts the other cores: 5 % of the processor time of two threads.
        self.rows.populate(self.size..2 * self.size);
        for place in old.clone() {
            let row = self.rows.get(place).copied().unwrap_or([0; ROW]);
            self.put(&row);
        }
        // Memory that the system does not take back is never looked at again.
        let _refused = self.rows.discard(old);
    }

    /// Keeps half of the keys: the others' sums are the rest's from now on.
    fn raise(&mut self, spill: &mut impl FnMut(&Row<ROW>)) {
        self.level += 1;
        self.used = 0;
        let all: Vec<_> = self.rows().copied().collect();
        let table = self.rows.get_mut(self.size..2 * self.size);
        table.unwrap_or_default().fill([0; ROW]);
        for row in &all {
            if is_kept(self.level, row::key::<KEY, ROW>(row)) {
                self.put(row);
            } else {
                spill(row);
                self.rest.count(row);
            }
        }
    }

    /// Puts a row into the first free place, if it is of a key that has none.
    fn put(&mut self, row: &Row<ROW>) {
        if row::is_free::<KEY, ROW>(row) {
            return;
        }
        let home = self.home(self.hash(&row::key(row)));
        let mut places = (0..self.size).map(|step| self.size + ((home + step) & (self.size - 1)));
        let is_free = |place: &usize| self.rows.get(*place).is_some_and(row::is_free::<KEY, ROW>);
        if let Some(place) = places.find(is_free)
            && let Some(held) = self.rows.get_mut(place)
        {
            *held = *row;
            self.used += 1;
        }
    }
}

/// Whether a key keeps its row. Not keyed by a secret: it must be the same in every run.
fn is_kept<const KEY: usize>(level: u32, key: [u64; KEY]) -> bool {
    FoldHash::FIXED.of_words(&key).leading_zeros() >= level
}

const ROWS_MIN: usize = 1 << 10;
/// Connections that wait.
const PENDING: usize = 16;

#[cfg(test)]
mod tests {
    use super::super::row::{LONG_ROW, Sums};
    use super::{FoldHash, Table};

    /// Keys whose fixed hash is 0, which a sender can choose: no row is theirs beyond the cap, and
    /// everything is still counted.
    #[test]
    fn keys_that_aim_at_the_sample_end_in_the_rest() {
        let mut table = Table::<4, LONG_ROW>::new(1 << 10, 7).unwrap();
        for number in 0..5000u64 {
            let [a, b, c] = [number, number ^ 9, 3];
            let key = [a, b, c, FoldHash::FIXED.of_words(&[a, b, c])];
            assert_eq!(FoldHash::FIXED.of_words(&key), 0);
            table.count(key, Sums::one(number, 1, 100), &mut |_| {});
        }
        table.flush(&mut |_| {});
        let counted = table.counted();
        assert_eq!(table.rows().count(), 0);
        assert_eq!(
            (counted.rest.connections, counted.rest.bytes),
            (5000, 500_000)
        );
        assert_eq!(counted.keys, (1 << 10) + 1);
    }
}
