//! Measures how long an order waits for its first report.
//!
//! ```text
//!  request ──► the side's latest ──older──► a table of the side, in sets of four
//!  report  ──► is it the latest? no, and the side has others: is it in the table?
//! ```
//!
//! Most sides have one pending request at a time, which needs no further memory. Others have a
//! table, which grows when a set is full; if it cannot, the set evicts its oldest entry. An order
//! is identified by a hash of its ClOrdID.

mod tables;

use flowpin_memory::{Budget, Pool};
use flowpin_packet::Timestamp;
use std::io;
use tables::{Entry, TableOf, Tables};

/// The requests of all sides that wait for a report.
#[derive(Debug)]
pub(crate) struct Orders(Tables);

/// The requests of one side that wait for a report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waiting {
    /// When the last one was sent + 1; 0: it has its report.
    time: u64,
    /// The hash of its ClOrdID.
    id: u32,
    /// Those before it.
    older: TableOf,
}

impl Waiting {
    #[inline]
    const fn is_empty(&self) -> bool {
        self.time == 0 && self.older.is_none()
    }

    #[inline]
    const fn is_latest(&self, id: u32) -> bool {
        self.time != 0 && self.id == id
    }
}

impl Orders {
    pub(crate) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        self.0.pools(visit);
    }

    pub(crate) fn new(budget: &Budget) -> io::Result<Self> {
        Tables::new(budget).map(Self)
    }

    /// Records a request of a side; false if another request was forgotten for it.
    #[inline]
    pub(crate) fn request(
        &mut self,
        side: &mut Waiting,
        shard: u8,
        id: &[u8],
        at: Timestamp,
    ) -> bool {
        let (id, time) = (hash(id), at.0.saturating_add(1));
        if side.is_empty() {
            (side.time, side.id) = (time, id);
            return true;
        }
        self.one_more(side, shard, Entry { time, id })
    }

    /// Records a request of a side that already has a pending one.
    #[inline(never)]
    fn one_more(&mut self, side: &mut Waiting, shard: u8, new: Entry) -> bool {
        // Sent again: the time of the first request is kept.
        if side.is_latest(new.id) || self.0.has(side.older, new.id) {
            return true;
        }
        let before = Entry {
            time: side.time,
            id: side.id,
        };
        (side.time, side.id) = (new.time, new.id);
        before.time == 0 || self.0.put(&mut side.older, shard, before)
    }

    /// Records a report to a side; returns the time since its request in nanoseconds, or `None` if
    /// it is not the first report.
    #[inline]
    pub(crate) fn report(
        &mut self,
        side: &mut Waiting,
        shard: u8,
        id: &[u8],
        at: Timestamp,
    ) -> Option<u64> {
        if side.is_empty() {
            return None;
        }
        let id = hash(id);
        let time = if side.is_latest(id) {
            core::mem::take(&mut side.time)
        } else {
            self.0.take(&mut side.older, shard, id)?
        };
        Some(at.0.saturating_add(1).saturating_sub(time))
    }

    /// Forgets the requests of a side.
    #[inline]
    pub(crate) fn forget(&mut self, side: &mut Waiting, shard: u8) {
        self.0.free(&mut side.older, shard);
        side.time = 0;
    }
}

/// A hash of an identifier and its length.
#[inline]
fn hash(id: &[u8]) -> u32 {
    let mut hash = id.len() as u64;
    let (words, rest) = id.as_chunks::<8>();
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        hash = mix(hash, last_word(id, rest));
    }
    // A product's low bits know little of the words' high ones.
    ((hash ^ (hash >> 29)).wrapping_mul(MULTIPLIER) >> 32) as u32
}

#[inline]
const fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(MULTIPLIER)
}

/// Returns the last bytes of an identifier, fewer than eight, as one number.
#[inline]
fn last_word(id: &[u8], rest: &[u8]) -> u64 {
    match id.last_chunk::<8>() {
        // The bytes before them were hashed already; hashing them twice does no harm.
        Some(last) => u64::from_le_bytes(*last),
        None => rest
            .iter()
            .fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// An odd number with many bits set: the fraction of the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The role of a message in the life of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A request about an order.
    Request,
    /// A report.
    Report,
    /// Neither.
    Other,
}

impl Role {
    /// Classifies by message type. Requests: orders, crosses, list orders, replacements and
    /// cancels. Reports: execution reports and cancel rejects.
    #[inline]
    pub(crate) fn of(message_type: &[u8]) -> Self {
        match message_type {
            b"8" | b"9" => Self::Report,
            b"D" | b"F" | b"G" | b"AB" | b"AC" | b"E" | b"s" | b"t" | b"u" => Self::Request,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Orders, Waiting};
    use flowpin_memory::Budget;
    use flowpin_packet::Timestamp;
    use proptest::prelude::*;
    use std::collections::HashMap;

    const SHARD: u8 = 3;

    /// The first report ends the wait; later reports and those of other sides do not match.
    #[test]
    fn the_first_report_gives_the_waiting_time() {
        let budget = Budget::new(1 << 20);
        let mut orders = Orders::new(&budget).unwrap();
        let mut side = Waiting::default();
        for (id, time) in [(b"order-1", 100), (b"order-2", 120), (b"order-1", 150)] {
            assert!(orders.request(&mut side, SHARD, id, Timestamp(time)));
        }
        let mut other = Waiting::default();
        let time = Timestamp(200);
        assert_eq!(orders.report(&mut other, SHARD, b"order-1", time), None);
        let mut report = |id, time| orders.report(&mut side, SHARD, id, Timestamp(time));
        assert_eq!(report(b"order-1", 350), Some(250));
        assert_eq!(report(b"order-1", 400), None);
        assert_eq!(report(b"order-2", 420), Some(300));
        assert_eq!(report(b"order-2", 430), None);
        assert!(budget.is_whole());
    }

    /// A side may have as many as its shard has memory for, then the oldest are forgotten.
    #[test]
    fn without_memory_the_oldest_are_forgotten() {
        let budget = Budget::new(100);
        let mut orders = Orders::new(&budget).unwrap();
        let mut side = Waiting::default();
        for time in 0..7u64 {
            let id = format!("o{time}");
            let is_kept = orders.request(&mut side, SHARD, id.as_bytes(), Timestamp(time));
            assert_eq!(is_kept, time < 5);
        }
        let mut report = |id, time| orders.report(&mut side, SHARD, id, Timestamp(time));
        assert_eq!(report(b"o1", 9), None);
        assert_eq!(report(b"o2", 9), Some(7));
        assert_eq!(report(b"o6", 9), Some(3));
        orders.forget(&mut side, SHARD);
        assert!(budget.is_whole());
    }

    /// A side that never gets a report has a table of limited size, which takes memory as it grows.
    #[test]
    fn a_table_has_a_limit() {
        let budget = Budget::new(1 << 20);
        let mut orders = Orders::new(&budget).unwrap();
        let mut side = Waiting::default();
        let mut kept = 0;
        for number in 0..5000u64 {
            let left = budget.left(SHARD);
            let id = format!("ORDER-{number}");
            kept += u64::from(orders.request(&mut side, SHARD, id.as_bytes(), Timestamp(number)));
            assert!(left.saturating_sub(budget.left(SHARD)) <= 17 << 10);
        }
        assert!((400..=1025).contains(&kept), "{kept}");
        let time = Timestamp(6000);
        assert_eq!(
            orders.report(&mut side, SHARD, b"ORDER-4998", time),
            Some(1002)
        );
        orders.forget(&mut side, SHARD);
        assert!(budget.is_whole());
    }

    proptest! {
        /// With enough memory, orders and reports of two sides pair as in a plain map.
        #[test]
        fn orders_are_a_map(
            steps in prop::collection::vec((any::<bool>(), 0u64..90, any::<bool>()), 0..300),
        ) {
            let budget = Budget::new(1 << 20);
            let mut orders = Orders::new(&budget).unwrap();
            let mut sides = [Waiting::default(); 2];
            let mut model = HashMap::new();
            for (time, (by_client, number, asks)) in (0u64..).zip(steps) {
                let side = &mut sides[usize::from(by_client)];
                let id = format!("ORDER-{number}");
                if asks {
                    prop_assert!(orders.request(side, SHARD, id.as_bytes(), Timestamp(time)));
                    model.entry((by_client, number)).or_insert(time);
                } else {
                    let waited = orders.report(side, SHARD, id.as_bytes(), Timestamp(time));
                    let asked = model.remove(&(by_client, number));
                    prop_assert_eq!(waited, asked.map(|asked| time - asked));
                }
            }
            for side in &mut sides {
                orders.forget(side, SHARD);
            }
            prop_assert!(budget.is_whole());
        }
    }
}
