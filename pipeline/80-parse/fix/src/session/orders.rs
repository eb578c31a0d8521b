//! Measures how long an order waits for its first report.
//!
//! ```text
//!  request ──► the side's latest ──older──► a table for each shard, in sets of four
//!  report  ──► is it the latest? no, and the side has others: is it in the table?
//! ```
//!
//! Most sides have one pending request at a time: it is stored with the side and needs no access to
//! shared memory. A full set of the table evicts its oldest entry; evictions depend only on the
//! messages of the shard. An order is identified by a hash of its ClOrdID within one direction of
//! one connection.

use flowpin_memory::Reserved;
use flowpin_packet::{SHARD_COUNT, Timestamp};
use std::io;

/// Requests that wait for a report.
#[derive(Debug)]
pub(crate) struct Orders {
    /// (time + 1, [`Key`]); time 0: empty.
    entries: Reserved<[u64; 2]>,
    sets: usize,
}

const _: () = assert!(WAYS * size_of::<[u64; 2]>() == 64);

/// The last order of a side, if it waits for its report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Latest {
    /// Time + 1; 0: no order waits.
    time: u64,
    /// As in [`Key`].
    id: u32,
    set: u16,
    /// Whether earlier orders of the side may wait in the table.
    has_older: bool,
}

impl Latest {
    #[inline]
    fn is(&self, key: &Key) -> bool {
        self.time != 0 && self.id == key.entry_id()
    }
}

/// The owner of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// The serial number of the connection in its shard.
    pub(crate) connection: u32,
    pub(crate) shard: u8,
    /// Whether the client sent the request.
    pub(crate) by_client: bool,
}

impl Orders {
    pub(crate) fn new(shard_orders_max: u32) -> io::Result<Self> {
        let sets = (shard_orders_max as usize)
            .div_ceil(WAYS)
            .next_power_of_two();
        Ok(Self {
            entries: Reserved::new(sets.saturating_mul(WAYS).saturating_mul(SHARD_COUNT))?,
            sets,
        })
    }

    /// Records a request of a side; returns the connection of the request that was evicted for it,
    /// if any.
    #[inline]
    pub(crate) fn request(
        &mut self,
        side: &mut Latest,
        owner: Owner,
        id: &[u8],
        at: Timestamp,
    ) -> Option<u32> {
        let key = Key::new(owner, id);
        let time = at.0.saturating_add(1);
        if side.time == 0 && !side.has_older {
            *side = Latest {
                time,
                id: key.entry_id(),
                set: key.set,
                has_older: false,
            };
            return None;
        }
        self.one_more(side, &key, time)
    }

    /// Records a request of a side that already has a pending order.
    #[inline(never)]
    fn one_more(&mut self, side: &mut Latest, key: &Key, time: u64) -> Option<u32> {
        // Sent again: the time of the first request is kept.
        if side.is(key) {
            return None;
        }
        if side.has_older && self.set(key)?.iter().any(|entry| key.is(entry)) {
            return None;
        }
        let older = core::mem::replace(
            side,
            Latest {
                time,
                id: key.entry_id(),
                set: key.set,
                has_older: true,
            },
        );
        if older.time == 0 {
            return None;
        }
        let key = key.of_latest(&older);
        let oldest = self
            .set(&key)?
            .iter_mut()
            .min_by_key(|entry| entry.first().copied())?;
        let [time, forgotten] = core::mem::replace(oldest, [older.time, key.entry]);
        (time != 0).then(|| connection_of(forgotten))
    }

    /// Records a report to a side; returns the time since its request in nanoseconds, or `None` if
    /// it is not the first report.
    #[inline]
    pub(crate) fn report(
        &mut self,
        side: &mut Latest,
        owner: Owner,
        id: &[u8],
        at: Timestamp,
    ) -> Option<u64> {
        if side.time == 0 && !side.has_older {
            return None;
        }
        let key = Key::new(owner, id);
        let time = if side.is(&key) {
            core::mem::take(&mut side.time)
        } else if side.has_older {
            let entry = self.set(&key)?.iter_mut().find(|entry| key.is(entry))?;
            let [time, _] = core::mem::take(entry);
            time
        } else {
            return None;
        };
        Some(at.0.saturating_add(1).saturating_sub(time))
    }

    fn set(&mut self, key: &Key) -> Option<&mut [[u64; 2]]> {
        let within = usize::from(key.set) & self.sets.saturating_sub(1);
        let shard = usize::from(key.shard).saturating_mul(self.sets);
        let first = shard.saturating_add(within).saturating_mul(WAYS);
        self.entries.get_mut(first..first.saturating_add(WAYS))
    }
}

/// The set of the table that holds a request, and its key there.
struct Key {
    shard: u8,
    set: u16,
    /// High bits: the connection. Low bits: a hash of the identifier, its length and its direction.
    entry: u64,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "parts of a hash are taken apart"
)]
impl Key {
    fn new(owner: Owner, id: &[u8]) -> Self {
        let mut hash = (id.len() as u64) << 1 | u64::from(owner.by_client);
        let (words, rest) = id.as_chunks::<8>();
        for word in words {
            hash = mix(hash, u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            hash = mix(hash, last_word(id, rest));
        }
        // The connection contributes to the choice of the set: many clients number their orders
        // from 1.
        let hash = mix(hash, u64::from(owner.connection));
        let hash = hash ^ (hash >> 29);
        Self {
            shard: owner.shard,
            set: (hash >> 48) as u16,
            entry: u64::from(owner.connection) << 32 | (hash & u64::from(u32::MAX)),
        }
    }

    /// Returns the key of another order of the same side.
    fn of_latest(&self, latest: &Latest) -> Self {
        Self {
            shard: self.shard,
            set: latest.set,
            entry: u64::from(connection_of(self.entry)) << 32 | u64::from(latest.id),
        }
    }

    const fn entry_id(&self) -> u32 {
        self.entry as u32
    }

    fn is(&self, entry: &[u64; 2]) -> bool {
        let [time, entry] = *entry;
        time != 0 && entry == self.entry
    }
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

const fn connection_of(entry: u64) -> u32 {
    (entry >> 32) as u32
}

const WAYS: usize = 4;
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
    use super::{Latest, Orders, Owner};
    use flowpin_packet::Timestamp;
    use proptest::prelude::*;
    use std::collections::HashMap;

    const OWNER: Owner = Owner {
        connection: 7,
        shard: 3,
        by_client: true,
    };

    /// The first report ends the wait; later reports, other connections and other directions do not
    /// match.
    #[test]
    fn the_first_report_gives_the_waiting_time() {
        let mut orders = Orders::new(16).unwrap();
        let mut side = Latest::default();
        for (id, time) in [(b"order-1", 100), (b"order-2", 120), (b"order-1", 150)] {
            assert_eq!(orders.request(&mut side, OWNER, id, Timestamp(time)), None);
        }
        let other = Owner {
            connection: 8,
            ..OWNER
        };
        let mut others = side;
        assert_eq!(
            orders.report(&mut others, other, b"order-1", Timestamp(200)),
            None
        );
        let back = Owner {
            by_client: false,
            ..OWNER
        };
        assert_eq!(
            orders.report(&mut others, back, b"order-1", Timestamp(200)),
            None
        );
        let mut report = |id, time| orders.report(&mut side, OWNER, id, Timestamp(time));
        assert_eq!(report(b"order-1", 350), Some(250));
        assert_eq!(report(b"order-1", 400), None);
        assert_eq!(report(b"order-2", 420), Some(300));
        assert_eq!(report(b"order-2", 430), None);
    }

    /// A full shard evicts its oldest requests and returns their owner.
    #[test]
    fn a_full_shard_forgets_the_oldest() {
        let mut orders = Orders::new(4).unwrap();
        let mut side = Latest::default();
        for time in 0..7u64 {
            let id = format!("o{time}");
            let forgotten = orders.request(&mut side, OWNER, id.as_bytes(), Timestamp(time));
            assert_eq!(forgotten, (time >= 5).then_some(7));
        }
        let mut report = |id, time| orders.report(&mut side, OWNER, id, Timestamp(time));
        assert_eq!(report(b"o1", 9), None);
        assert_eq!(report(b"o2", 9), Some(7));
        assert_eq!(report(b"o6", 9), Some(3));
    }

    proptest! {
        /// Without evictions, orders and reports of two sides pair as in a plain map.
        #[test]
        fn orders_are_a_map(
            steps in prop::collection::vec((any::<bool>(), 0u64..6, any::<bool>()), 0..80),
        ) {
            let mut orders = Orders::new(256).unwrap();
            let mut sides = [Latest::default(); 2];
            let mut model = HashMap::new();
            for (time, (by_client, number, asks)) in (0u64..).zip(steps) {
                let side = &mut sides[usize::from(by_client)];
                let owner = Owner { by_client, ..OWNER };
                let id = format!("ORDER-{number}");
                if asks {
                    orders.request(side, owner, id.as_bytes(), Timestamp(time));
                    model.entry((by_client, number)).or_insert(time);
                } else {
                    let waited = orders.report(side, owner, id.as_bytes(), Timestamp(time));
                    let asked = model.remove(&(by_client, number));
                    prop_assert_eq!(waited, asked.map(|asked| time - asked));
                }
            }
        }
    }
}
