//! A row of sums, as words: plain integers, so that tables of them can be reserved.
//!
//! ```text
//!  short:  key │ connections, weight │ packets │ bytes                  32 bytes
//!  long:   key key key key │ connections, weight │ packets │ bytes │ –  64 bytes
//! ```
//!
//! The upper 8 bits of the connections' word are the weight of the row's luckiest connection, see
//! [`weight`].

use super::key::{LONG, SHORT};
use flowpin_aggregate::Traffic;

/// Words of a short and a long row.
pub(super) const SHORT_ROW: usize = SHORT + 3;
pub(super) const LONG_ROW: usize = LONG + 4;

/// A row with a key of `KEY` words.
pub(super) type Row<const ROW: usize> = [u64; ROW];

/// What a row sums up, and the weight of its luckiest connection.
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    /// With the weight.
    connections: u64,
    packets: u64,
    bytes: u64,
}

impl Sums {
    /// One connection's. `random` is its luck: evenly distributed, and the same in every run.
    #[inline]
    pub const fn one(random: u64, packets: u64, bytes: u64) -> Self {
        Self {
            connections: 1 | weight(random, bytes) << WEIGHT_SHIFT,
            packets,
            bytes,
        }
    }

    /// The sums alone.
    pub(crate) const fn traffic(&self) -> Traffic {
        Traffic {
            connections: self.connections & CONNECTIONS,
            packets: self.packets,
            bytes: self.bytes,
        }
    }
}

/// Makes a row.
// PERF: word by word in its place: a copy of what was written just now would wait for it.
#[inline]
pub(super) fn set<const KEY: usize, const ROW: usize>(
    row: &mut Row<ROW>,
    key: [u64; KEY],
    sums: Sums,
) {
    for (to, word) in row.iter_mut().zip(key) {
        *to = word;
    }
    if let Some([to_connections, to_packets, to_bytes, ..]) = row.get_mut(KEY..) {
        *to_connections = sums.connections;
        (*to_packets, *to_bytes) = (sums.packets, sums.bytes);
    }
}

/// The weight of a connection in a draw by lot: the binary logarithm of its bytes, divided by a
/// random number between 0 and 1.
///
/// Of several rows, the one with the greatest weight is most likely that with the most bytes,
/// whether by one large connection or many small ones (weighted sampling, Efraimidis and Spirakis,
/// 2006). A maximum depends on no order.
#[inline]
const fn weight(random: u64, bytes: u64) -> u64 {
    ((bytes | 1).ilog2() + random.leading_zeros()) as u64
}

#[inline]
pub(super) fn key<const KEY: usize, const ROW: usize>(row: &Row<ROW>) -> [u64; KEY] {
    row.first_chunk().copied().unwrap_or([0; KEY])
}

/// Whether nothing was ever added.
#[inline]
pub(super) fn is_free<const KEY: usize, const ROW: usize>(row: &Row<ROW>) -> bool {
    row.get(KEY).is_none_or(|&connections| connections == 0)
}

/// The weight of the luckiest connection, then the key: an order without ties.
pub(super) fn luck<const KEY: usize, const ROW: usize>(row: &Row<ROW>) -> (u64, [u64; KEY]) {
    let connections = row.get(KEY).copied().unwrap_or(0);
    (connections >> WEIGHT_SHIFT, key(row))
}

/// Adds the sums of another row; keeps the key.
#[inline]
pub(super) fn add<const KEY: usize, const ROW: usize>(to: &mut Row<ROW>, row: &Row<ROW>) {
    if let Some([connections, packets, bytes, ..]) = to.get_mut(KEY..)
        && let Some(&[more_connections, more_packets, more_bytes, ..]) = row.get(KEY..)
    {
        let weight = (*connections).max(more_connections) & !CONNECTIONS;
        let sum = (*connections & CONNECTIONS) + (more_connections & CONNECTIONS);
        *connections = sum & CONNECTIONS | weight;
        // PERF: saturating, or pairs are added that wait for the single words just written.
        *packets = packets.saturating_add(more_packets);
        *bytes = bytes.saturating_add(more_bytes);
    }
}

/// What was put into a row.
pub(super) fn sums<const KEY: usize, const ROW: usize>(row: &Row<ROW>) -> Sums {
    match row.get(KEY..) {
        Some(&[connections, packets, bytes, ..]) => Sums {
            connections,
            packets,
            bytes,
        },
        _ => Sums {
            connections: 0,
            packets: 0,
            bytes: 0,
        },
    }
}

/// What a row sums up.
pub(super) fn traffic<const KEY: usize, const ROW: usize>(row: &Row<ROW>) -> Traffic {
    sums::<KEY, ROW>(row).traffic()
}

const WEIGHT_SHIFT: u32 = 56;
const CONNECTIONS: u64 = (1 << WEIGHT_SHIFT) - 1;
