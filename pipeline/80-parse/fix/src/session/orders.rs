//! How long an order waits for its first report.
//!
//! Requests are kept by ClOrdID in sets of four, a table for each shard: a full set forgets its
//! oldest. What is forgotten depends on the shard's messages only.

use flowpin_memory::Reserved;
use flowpin_packet::{SHARD_COUNT, Timestamp};
use std::io;

/// Requests that wait for a report.
#[derive(Debug)]
pub(crate) struct Orders {
    /// (time + 1, hash, owner, length of the identifier and direction); time 0: none.
    entries: Reserved<[u64; 4]>,
    sets: usize,
}

/// Whose order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Of which connection; never the same for two.
    pub(crate) connection: u64,
    pub(crate) shard: u8,
    /// Whether the client asked.
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

    /// A request; gives the owner of the one that was forgotten for it, if any.
    pub(crate) fn request(&mut self, owner: Owner, id: &[u8], at: Timestamp) -> Option<u64> {
        let key = Key::new(owner, id);
        let set = self.set(owner, key.hash)?;
        if set.iter().any(|entry| key.is(entry)) {
            // Sent again: the first time counts.
            return None;
        }
        let oldest = set.iter_mut().min_by_key(|entry| entry.first().copied())?;
        let [time, _, forgotten, _] = *oldest;
        *oldest = [at.0.saturating_add(1), key.hash, key.owner, key.kind];
        (time != 0).then_some(forgotten)
    }

    /// A report: how long ago its request was, in nanoseconds; none if it is not the first.
    pub(crate) fn report(&mut self, owner: Owner, id: &[u8], at: Timestamp) -> Option<u64> {
        let key = Key::new(owner, id);
        let set = self.set(owner, key.hash)?;
        let entry = set.iter_mut().find(|entry| key.is(entry))?;
        let [time, ..] = core::mem::take(entry);
        Some(at.0.saturating_add(1).saturating_sub(time))
    }

    fn set(&mut self, owner: Owner, hash: u64) -> Option<&mut [[u64; 4]]> {
        let within = usize::try_from(hash >> 32).ok()? & self.sets.saturating_sub(1);
        let shard = usize::from(owner.shard).saturating_mul(self.sets);
        let first = shard.saturating_add(within).saturating_mul(WAYS);
        self.entries.get_mut(first..first.saturating_add(WAYS))
    }
}

struct Key {
    hash: u64,
    owner: u64,
    kind: u64,
}

impl Key {
    fn new(owner: Owner, id: &[u8]) -> Self {
        let mut hash = 0u64;
        let (words, rest) = id.as_chunks::<8>();
        let mut last = [0; 8];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        for word in words.iter().chain([&last]) {
            hash = (hash.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(MULTIPLIER);
        }
        Self {
            hash: hash ^ (hash >> 29),
            owner: owner.connection,
            kind: (id.len() as u64) << 1 | u64::from(owner.by_client),
        }
    }

    fn is(&self, entry: &[u64; 4]) -> bool {
        let [time, hash, owner, kind] = *entry;
        time != 0 && hash == self.hash && owner == self.owner && kind == self.kind
    }
}

const WAYS: usize = 4;
/// Any odd number with many bits: the fraction of the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a message is to orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It asks for something about an order.
    Request,
    /// It answers.
    Report,
    /// Neither.
    Other,
}

impl Role {
    /// By message type: orders, crosses and lists' orders, changes and cancels; execution reports
    /// and refused cancels.
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
    use super::{Orders, Owner};
    use flowpin_packet::Timestamp;

    const OWNER: Owner = Owner {
        connection: 7,
        shard: 3,
        by_client: true,
    };

    /// The first report ends the wait; later ones, other connections and directions have none.
    #[test]
    fn the_first_report_tells_how_long_it_took() {
        let mut orders = Orders::new(16).unwrap();
        assert_eq!(orders.request(OWNER, b"order-1", Timestamp(100)), None);
        assert_eq!(orders.request(OWNER, b"order-1", Timestamp(150)), None);
        let other = Owner {
            connection: 8,
            ..OWNER
        };
        assert_eq!(orders.report(other, b"order-1", Timestamp(200)), None);
        let back = Owner {
            by_client: false,
            ..OWNER
        };
        assert_eq!(orders.report(back, b"order-1", Timestamp(200)), None);
        assert_eq!(orders.report(OWNER, b"order-1", Timestamp(350)), Some(250));
        assert_eq!(orders.report(OWNER, b"order-1", Timestamp(400)), None);
    }

    /// A full shard forgets its oldest requests and says whose they were.
    #[test]
    fn a_full_shard_forgets_the_oldest() {
        let mut orders = Orders::new(4).unwrap();
        for time in 0..6u64 {
            let id = format!("o{time}");
            let forgotten = orders.request(OWNER, id.as_bytes(), Timestamp(time));
            assert_eq!(forgotten, (time >= 4).then_some(7));
        }
        assert_eq!(orders.report(OWNER, b"o1", Timestamp(9)), None);
        assert_eq!(orders.report(OWNER, b"o2", Timestamp(9)), Some(7));
    }
}
