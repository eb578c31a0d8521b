//! The rows with the most bytes.

use core::cmp::Reverse;
use flowpin_aggregate::Traffic;

/// The heaviest rows of a table, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranking<K> {
    /// The heaviest first; those with the same bytes by key.
    pub rows: Vec<Ranked<K>>,
    /// Different keys; about, if some are in the rest.
    pub keys: u64,
    /// Sums of keys without an exact row. 0 if every row is exact and none is missing.
    pub rest: Traffic,
    rows_max: usize,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranked<K> {
    /// What the row is of.
    pub key: K,
    /// Its sums.
    pub traffic: Traffic,
    /// Whether the sums are estimates.
    pub is_estimate: bool,
}

impl<K> Default for Ranking<K> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<K> Ranking<K> {
    /// An empty ranking of that many rows at most.
    pub const fn new(rows_max: usize) -> Self {
        Self {
            rows: Vec::new(),
            keys: 0,
            rest: Traffic {
                connections: 0,
                packets: 0,
                bytes: 0,
            },
            rows_max,
        }
    }
}

impl<K: Copy + Ord> Ranking<K> {
    /// Puts a row in its place, if it is among the heaviest.
    pub fn put(&mut self, key: K, traffic: Traffic, is_estimate: bool) {
        let place = |row: &Ranked<K>| (Reverse(row.traffic.bytes), row.key);
        let row = Ranked {
            key,
            traffic,
            is_estimate,
        };
        // PERF: most of a hundred thousand rows are below the last of the top ones.
        let is_full = self.rows.len() >= self.rows_max;
        if is_full
            && self
                .rows
                .last()
                .is_none_or(|last| place(last) <= place(&row))
        {
            return;
        }
        let at = self
            .rows
            .partition_point(|other| place(other) < place(&row));
        self.rows.insert(at, row);
        self.rows.truncate(self.rows_max);
    }
}
