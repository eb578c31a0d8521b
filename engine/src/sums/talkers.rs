//! Who talked most: sums by address, exact, order-free, bounded.
//!
//! ```text
//!  count ──► pending (16, their rows asked for) ──► IPv4: rows in place │ IPv6: a map
//! ```
//!
//! A connection adds to two rows that lie anywhere in megabytes. So it waits until the next few
//! have come, and the rows have arrived from memory by then.

use crate::sums::{FoldHash, Traffic};
use core::hash::BuildHasher;
use core::net::{IpAddr, Ipv4Addr};
use flowpin_memory::Reserved;
use std::collections::HashMap;

/// Sums by address. Addresses beyond 131,072 are counted as untracked.
#[derive(Debug, Default)]
pub struct Talkers {
    rows: Option<Rows>,
    /// IPv6, and IPv4 where the system gave no memory for rows.
    others: HashMap<IpAddr, Traffic, FoldHash>,
    pending: [Pending; PENDING],
    next: usize,
    untracked: u64,
}

impl Talkers {
    /// No address yet; the hashes are keyed, so that nobody can aim at them.
    pub(crate) fn new(hasher: FoldHash) -> Self {
        Self {
            rows: Rows::new(hasher).ok(),
            others: HashMap::with_hasher(hasher),
            ..Self::default()
        }
    }

    /// Adds a connection's traffic to one of its addresses.
    #[inline]
    // PERF: no copies of what was written just now, a few bytes at a time: they would wait for it.
    pub fn count(&mut self, address: &IpAddr, packets: u64, bytes: u64) {
        let (&IpAddr::V4(address), Some(rows)) = (address, &self.rows) else {
            return self.add_other(*address, &of_one(packets, bytes));
        };
        rows.prefetch(address);
        self.next = (self.next + 1) % PENDING;
        self.add_pending(self.next);
        if let Some(place) = self.pending.get_mut(self.next) {
            (place.key, place.packets, place.bytes) = (key_of(address), packets, bytes);
        }
    }

    /// Adds what waits. Until then the sums may lack the last few connections.
    pub(crate) fn settle(&mut self) {
        for nth in 0..PENDING {
            self.add_pending(nth);
        }
        self.pending = Default::default();
    }

    #[inline]
    fn add_pending(&mut self, nth: usize) {
        if let Some(waiting) = self.pending.get(nth)
            && let Some(address) = address_of(waiting.key)
        {
            self.add_ipv4(address, 1, waiting.packets, waiting.bytes);
        }
    }

    /// Adds another worker's settled sums.
    pub(crate) fn add(&mut self, other: &Self) {
        for (address, traffic) in other.iter() {
            match address {
                IpAddr::V4(address) if self.rows.is_some() => {
                    let Traffic {
                        connections,
                        packets,
                        bytes,
                    } = traffic;
                    self.add_ipv4(address, connections, packets, bytes);
                }
                _ => self.add_other(address, &traffic),
            }
        }
        self.untracked += other.untracked;
    }

    /// All addresses, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = (IpAddr, Traffic)> {
        let rows = self.rows.iter().flat_map(Rows::iter);
        rows.chain(self.others.iter().map(|(&key, &sums)| (key, sums)))
    }

    /// Addresses that have a row.
    pub fn len(&self) -> usize {
        self.rows.as_ref().map_or(0, |rows| rows.used) + self.others.len()
    }

    /// Whether there is no address.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends of connections whose address found no row.
    pub const fn untracked(&self) -> u64 {
        self.untracked
    }

    fn add_ipv4(&mut self, address: Ipv4Addr, connections: u64, packets: u64, bytes: u64) {
        let full = self.len() >= ADDRESSES_MAX;
        let row = self.rows.as_mut().and_then(|rows| rows.row(address, full));
        if let Some([_, to_connections, to_packets, to_bytes]) = row {
            *to_connections += connections;
            *to_packets += packets;
            *to_bytes += bytes;
        } else {
            self.untracked += 1;
        }
    }

    fn add_other(&mut self, address: IpAddr, traffic: &Traffic) {
        if self.len() < ADDRESSES_MAX {
            self.others.entry(address).or_default().add(traffic);
        } else if let Some(sums) = self.others.get_mut(&address) {
            sums.add(traffic);
        } else {
            self.untracked += 1;
        }
    }
}

/// A connection's traffic that waits; without a key: none.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    key: u64,
    packets: u64,
    bytes: u64,
}

/// The traffic of one connection.
const fn of_one(packets: u64, bytes: u64) -> Traffic {
    Traffic {
        connections: 1,
        packets,
        bytes,
    }
}

/// Rows of IPv4 addresses, by linear probing. A table of 2ᵏ rows lies behind those of all smaller
/// ones, so that growing allocates nothing.
#[derive(Debug)]
struct Rows {
    rows: Reserved<[u64; 4]>,
    /// Rows of the table in use: it begins at the row of this number.
    size: usize,
    used: usize,
    hasher: FoldHash,
}

/// In [`Rows`]: 1 more than the address (0: free), connections, packets, bytes.
type Row = [u64; 4];

impl Rows {
    fn new(hasher: FoldHash) -> std::io::Result<Self> {
        let mut rows = Reserved::new(2 * ROWS_MAX)?;
        // A machine without huge pages is slower, nothing else.
        let _unavailable = rows.prefer_huge_pages();
        Ok(Self {
            rows,
            size: ROWS_MIN,
            used: 0,
            hasher,
        })
    }

    #[inline]
    fn home(&self, address: Ipv4Addr) -> usize {
        self.hasher.hash_one(address.to_bits()) as usize & (self.size - 1)
    }

    #[inline]
    fn prefetch(&self, address: Ipv4Addr) {
        self.rows.prefetch(self.size + self.home(address));
    }

    /// An address's row; none if it has none and there is no room.
    #[inline]
    fn row(&mut self, address: Ipv4Addr, full: bool) -> Option<&mut Row> {
        if self.used >= self.size / 2 {
            self.grow();
        }
        let (home, key) = (self.home(address), key_of(address));
        for step in 0..self.size {
            let place = self.size + ((home + step) & (self.size - 1));
            let held = self.rows.get(place)?[0];
            if held == 0 && full {
                return None;
            }
            if held == 0 || held == key {
                self.used += usize::from(held == 0);
                let row = self.rows.get_mut(place)?;
                row[0] = key;
                return Some(row);
            }
        }
        None
    }

    #[cold]
    fn grow(&mut self) {
        if self.size >= ROWS_MAX {
            return;
        }
        let old = self.size..2 * self.size;
        self.size *= 2;
        self.used = 0;
        for place in old.clone() {
            let old = self.rows.get(place).copied().unwrap_or_default();
            if let Some(address) = address_of(old[0])
                && let Some(row) = self.row(address, false)
            {
                *row = old;
            }
        }
        // Memory that the system does not take back is never looked at again.
        let _refused = self.rows.discard(old);
    }

    fn iter(&self) -> impl Iterator<Item = (IpAddr, Traffic)> {
        let rows = self.rows.get(self.size..2 * self.size).unwrap_or_default();
        let sums = rows.iter().filter_map(of_row);
        sums.map(|(address, traffic)| (IpAddr::V4(address), traffic))
    }
}

/// One more than the address: 0 is none.
const fn key_of(address: Ipv4Addr) -> u64 {
    address.to_bits() as u64 + 1
}

fn address_of(key: u64) -> Option<Ipv4Addr> {
    let address = u32::try_from(key.checked_sub(1)?).ok()?;
    Some(Ipv4Addr::from_bits(address))
}

fn of_row(&[key, connections, packets, bytes]: &Row) -> Option<(Ipv4Addr, Traffic)> {
    let address = address_of(key)?;
    let traffic = Traffic {
        connections,
        packets,
        bytes,
    };
    Some((address, traffic))
}

/// Addresses that have a row; further ones are counted as untracked.
const ADDRESSES_MAX: usize = 1 << 17;

const ROWS_MIN: usize = 1 << 10;
/// Half full at most.
const ROWS_MAX: usize = 2 * ADDRESSES_MAX;

/// Additions that wait.
const PENDING: usize = 16;

#[cfg(test)]
mod tests {
    use super::{ADDRESSES_MAX, Talkers};
    use crate::sums::{FoldHash, Traffic};
    use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
    use std::collections::HashMap;

    /// The sums are those of a plain map, for both families, after every growth, and whichever
    /// worker counted what.
    #[test]
    fn sums_are_those_of_a_plain_map() {
        let mut model = HashMap::<IpAddr, Traffic>::new();
        let mut workers = [0, 1].map(|secret| Talkers::new(FoldHash::keyed(secret)));
        for nth in 0..20_000u32 {
            let number = (nth % 7_000).wrapping_mul(2_654_435_761) % 65_536;
            let address = match nth % 3 {
                0 => IpAddr::V6(Ipv6Addr::from(u128::from(number))),
                _ => IpAddr::V4(Ipv4Addr::from_bits(number)),
            };
            model
                .entry(address)
                .or_default()
                .add(&super::of_one(2, nth.into()));
            workers[nth as usize % 2].count(&address, 2, nth.into());
        }
        let [mut first, mut second] = workers;
        first.settle();
        second.settle();
        first.add(&second);
        assert_eq!(first.iter().collect::<HashMap<_, _>>(), model);
        assert_eq!((first.len(), first.untracked()), (model.len(), 0));
    }

    /// More addresses than the limit take no more memory; they are counted.
    #[test]
    fn addresses_beyond_the_limit_are_counted() {
        let mut talkers = Talkers::new(FoldHash::keyed(7));
        for number in 0..ADDRESSES_MAX as u32 + 100 {
            talkers.count(&IpAddr::V4(Ipv4Addr::from_bits(number)), 1, 1);
        }
        talkers.count(&IpAddr::V6(Ipv6Addr::LOCALHOST), 1, 1);
        talkers.count(&IpAddr::V4(Ipv4Addr::from_bits(3)), 1, 1);
        talkers.settle();
        assert_eq!(talkers.len(), ADDRESSES_MAX);
        assert!((100..=101).contains(&talkers.untracked()));
        let third = IpAddr::V4(Ipv4Addr::from_bits(3));
        let sums = talkers.iter().find(|row| row.0 == third);
        assert_eq!(sums.map(|row| row.1.connections), Some(2));
    }
}
