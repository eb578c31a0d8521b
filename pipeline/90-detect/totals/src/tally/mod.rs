//! Sums by key, for any number of keys in bounded memory: independent of order and division.
//!
//! ```text
//!  keys ≤ the cap:  every row exact
//!  keys > the cap:  a sample of rows exact, chosen by hash │ the rest in shared buckets, of which
//!                                                          │ the heaviest keys are estimated
//! ```
//!
//! Guarantees, with `n` the cap of a family (IPv4, IPv6):
//!
//! - Up to `n` different keys, every sum is exact.
//! - Beyond, each row is either exact or marked as an estimate, a bucket of other keys too high at
//!   most. A key with more than a few ten-thousandths of the rest's bytes is very likely listed.
//! - The result is a function of the set of counted connections: the same for any order, any
//!   number of workers, any secret.
//! - Memory: 4 `n` rows of 32 bytes (IPv4) or 64 (IPv6) of address space, resident where used; 3 MB
//!   for the rest.
//!
//! Exact for every key, independent of order and bounded are not all three possible: see
//! `docs/decisions/0027-aggregates.md`.

mod key;
mod ranking;
mod rest;
mod row;
mod table;
#[cfg(test)]
mod tests;

pub use key::{HostPair, Key, Words};
pub use ranking::{Ranked, Ranking};
pub use row::Sums;

use core::marker::PhantomData;
use flowpin_config::Plan;
use key::{LONG, SHORT};
use row::{LONG_ROW, Row, SHORT_ROW};
use std::io;
use table::{Counted, Table};

/// The most exact keys of a family: one for each 8 KiB of `--memory`, rounded down to a power of
/// two; 131,072 at most. Each worker and the output have a table of addresses and one of pairs, of
/// 128 bytes a key.
pub(crate) fn keys_max(plan: &Plan) -> usize {
    let keys = (plan.memory_bytes >> 13).clamp(1 << 10, 1 << 17);
    1 << keys.ilog2()
}

/// Sums by keys.
#[derive(Debug)]
pub struct Tally<K> {
    short: Table<SHORT, SHORT_ROW>,
    long: Table<LONG, LONG_ROW>,
    key: PhantomData<K>,
}

impl<K: Key> Tally<K> {
    /// For at most `keys_max` exact keys of a family. `secret` keys the tables' hashes; the sums do
    /// not depend on it.
    ///
    /// # Errors
    /// Where the system has no address space.
    pub fn new(keys_max: usize, secret: u64) -> io::Result<Self> {
        Ok(Self {
            short: Table::new(keys_max, secret)?,
            long: Table::new(keys_max, secret)?,
            key: PhantomData,
        })
    }

    /// Adds to a key's sums. What goes to keys without a row of their own goes to `spill`, too: all
    /// that is ever counted is either in [`Tally::for_each`] or has been spilled.
    #[inline]
    pub fn count(&mut self, key: K, sums: Sums, spill: &mut impl FnMut(K, Sums)) {
        match key.words() {
            Words::Short(key) => self.short.count(key, sums, &mut short(spill)),
            Words::Long(key) => self.long.count(key, sums, &mut long(spill)),
        }
    }

    /// Adds the connections that still wait for their rows: for a tally that is complete.
    pub fn flush(&mut self, spill: &mut impl FnMut(K, Sums)) {
        self.short.flush(&mut short(spill));
        self.long.flush(&mut long(spill));
    }

    /// Adds another worker's flushed sums.
    pub fn add(&mut self, other: &Self, spill: &mut impl FnMut(K, Sums)) {
        self.short.add(&other.short, &mut short(spill));
        self.long.add(&other.long, &mut long(spill));
    }

    /// All exact rows, in no order that means anything.
    pub fn for_each(&self, to: &mut impl FnMut(K, Sums)) {
        self.short.rows().for_each(short(to));
        self.long.rows().for_each(long(to));
    }

    /// The rows with the most bytes, `count` of them at most.
    pub fn ranking(&self, count: usize) -> Ranking<K> {
        let mut ranking = Ranking::new(count);
        self.for_each(&mut |key, sums| ranking.put(key, sums.traffic(), false));
        put_others(&mut ranking, &self.short.counted(), Words::Short);
        put_others(&mut ranking, &self.long.counted(), Words::Long);
        ranking
    }
}

fn short<K: Key>(to: &mut impl FnMut(K, Sums)) -> impl FnMut(&Row<SHORT_ROW>) {
    |row| {
        let key = K::of(Words::Short(row::key(row)));
        to(key, row::sums::<SHORT, SHORT_ROW>(row));
    }
}

fn long<K: Key>(to: &mut impl FnMut(K, Sums)) -> impl FnMut(&Row<LONG_ROW>) {
    |row| {
        let key = K::of(Words::Long(row::key(row)));
        to(key, row::sums::<LONG, LONG_ROW>(row));
    }
}

fn put_others<K: Key, const KEY: usize>(
    ranking: &mut Ranking<K>,
    counted: &Counted<KEY>,
    words: impl Fn([u64; KEY]) -> Words,
) {
    ranking.keys = ranking.keys.saturating_add(counted.keys);
    ranking.rest.add(&counted.rest);
    for one in &counted.estimates {
        ranking.put(K::of(words(one.key)), one.traffic, true);
    }
}
