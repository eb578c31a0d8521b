//! The sums of keys that have no row of their own: the heaviest of them can still be named.
//!
//! ```text
//!  key ─hash─┬─► way 0: one of 16,384 buckets │ sums of all its keys │ the key of the luckiest
//!            └─► way 1: likewise, by other bits of the hash            connection
//! ```
//!
//! A bucket holds a sum and a maximum, so it depends on no order, and buckets of several workers
//! add up. A key with most of a bucket's bytes very likely has its luckiest connection too. Its
//! bytes are at most those of the lighter of its two buckets, and about those less the usual weight
//! of a bucket (Count-Min with its mean taken out: Deng and Rafiei, 2007).

use super::row::{self, Row};
use crate::hash::FoldHash;
use flowpin_aggregate::Traffic;
use flowpin_memory::Reserved;
use std::io;

/// Sums of many keys in few rows.
#[derive(Debug)]
pub(super) struct Rest<const KEY: usize, const ROW: usize> {
    buckets: Reserved<Row<ROW>>,
    total: Traffic,
}

/// A heavy key of the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate<const KEY: usize> {
    pub(super) key: [u64; KEY],
    pub(super) traffic: Traffic,
}

impl<const KEY: usize, const ROW: usize> Rest<KEY, ROW> {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            buckets: Reserved::new(WAYS * BUCKETS)?,
            total: Traffic::default(),
        })
    }

    /// Adds the sums of one key.
    pub(super) fn count(&mut self, row: &Row<ROW>) {
        self.total.add(&row::traffic::<KEY, ROW>(row));
        for place in places(row::key::<KEY, ROW>(row)) {
            self.add_to(place, row);
        }
    }

    /// Adds another worker's.
    pub(super) fn add(&mut self, other: &Self) {
        self.total.add(&other.total);
        if other.total.connections == 0 {
            return;
        }
        for (place, row) in other.buckets.iter().enumerate() {
            self.add_to(place, row);
        }
    }

    /// The sums of all keys.
    pub(super) const fn total(&self) -> Traffic {
        self.total
    }

    fn add_to(&mut self, place: usize, row: &Row<ROW>) {
        let Some(bucket) = self.buckets.get_mut(place) else {
            return;
        };
        if row::luck::<KEY, ROW>(row) > row::luck::<KEY, ROW>(bucket)
            && let Some(key) = bucket.first_chunk_mut()
        {
            *key = row::key::<KEY, ROW>(row);
        }
        row::add::<KEY, ROW>(bucket, row);
    }

    /// Keys that stand out: in buckets several times as heavy as the middle one. By key.
    pub(super) fn heaviest(&self) -> Vec<Estimate<KEY>> {
        if self.total.connections == 0 {
            return Vec::new();
        }
        let usual = self.usual();
        let buckets = self.buckets.iter();
        let mut keys: Vec<[u64; KEY]> = buckets
            .filter(|row| is_heavy(&row::traffic::<KEY, ROW>(row), &usual))
            .map(row::key)
            .collect();
        keys.sort_unstable();
        keys.dedup();
        let estimates = keys.into_iter().map(|key| self.estimate(key, &usual));
        estimates.flatten().collect()
    }

    fn estimate(&self, key: [u64; KEY], usual: &Traffic) -> Option<Estimate<KEY>> {
        let buckets = places(key).filter_map(|place| self.buckets.get(place));
        let mut traffic = buckets
            .map(row::traffic::<KEY, ROW>)
            .min_by_key(|sums| (sums.bytes, sums.packets, sums.connections))?;
        if !is_heavy(&traffic, usual) {
            return None;
        }
        traffic.subtract(usual);
        // There is a connection: the row was counted.
        traffic.connections = traffic.connections.max(1);
        traffic.packets = traffic.packets.max(1);
        Some(Estimate { key, traffic })
    }

    /// The median of the buckets' sums.
    fn usual(&self) -> Traffic {
        let median = |of: fn(&Traffic) -> u64| {
            let sums = self.buckets.iter().map(row::traffic::<KEY, ROW>);
            let mut sums: Vec<u64> = sums.map(|sums| of(&sums)).collect();
            let middle = sums.len() / 2;
            *sums.select_nth_unstable(middle).1
        };
        Traffic {
            connections: median(|sums| sums.connections),
            packets: median(|sums| sums.packets),
            bytes: median(|sums| sums.bytes),
        }
    }
}

/// Whether a bucket has so much that it is not by many light keys.
const fn is_heavy(sums: &Traffic, usual: &Traffic) -> bool {
    sums.connections > 0 && sums.bytes > HEAVY.saturating_mul(usual.bytes)
}

/// A key's buckets: one in each way.
fn places<const KEY: usize>(key: [u64; KEY]) -> impl Iterator<Item = usize> {
    let hash = FoldHash::FIXED.of_words(&key);
    // The upper bits say which keys are kept: those of the rest do not have all of them.
    (0..WAYS).map(move |way| {
        let bits = hash >> (way as u32 * BUCKETS.trailing_zeros());
        way * BUCKETS + (bits as usize & (BUCKETS - 1))
    })
}

const WAYS: usize = 2;
const BUCKETS: usize = 1 << 14;
const HEAVY: u64 = 4;
