//! Where datagrams under way are found: by key, and by age.
//!
//! ```text
//!  buckets ──► slot ──► slot          by key: chains, under a secret hash
//!  oldest ◄──► slot ◄──► … ◄──► newest   by age: one list a family, so each is in order of
//!                                        deadline, and expiry looks at its end only
//! ```

use crate::block::NONE;
use crate::partial::{Key, Partial};
use flowpin_packet::Timestamp;

/// What a slot costs of the memory cap, its list of ranges included.
pub(crate) const SLOT_COST: u64 = size_of::<Slot>() as u64 + 256;

#[derive(Debug)]
struct Slot {
    partial: Partial,
    next_in_bucket: u32,
    older: u32,
    newer: u32,
    /// When it was made: tells which family's oldest is older.
    age: u64,
}

/// The oldest and the newest of a family.
#[derive(Clone, Copy, Debug)]
struct Ages {
    oldest: u32,
    newest: u32,
}

#[derive(Debug)]
pub(crate) struct Table {
    #[expect(
        clippy::vec_box,
        reason = "growing the list must not copy what the slots hold"
    )]
    slots: Vec<Box<Slot>>,
    free: Vec<u32>,
    buckets: Vec<u32>,
    /// IPv4's and IPv6's.
    ages: [Ages; 2],
    made: u64,
    secret: u64,
    len: usize,
}

impl Table {
    pub(crate) fn new(len_max: usize, secret: u64) -> Self {
        let none = Ages {
            oldest: NONE,
            newest: NONE,
        };
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            buckets: vec![NONE; len_max.clamp(64, 1 << 20).next_power_of_two()],
            ages: [none; 2],
            made: 0,
            secret,
            len: 0,
        }
    }

    /// Datagrams under way, and remembered ones.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, slot: u32) -> Option<&Partial> {
        self.slots.get(slot as usize).map(|slot| &slot.partial)
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Partial> {
        self.slots
            .get_mut(slot as usize)
            .map(|slot| &mut slot.partial)
    }

    pub(crate) fn find(&self, key: &Key) -> Option<u32> {
        let mut number = *self.buckets.get(self.bucket(key))?;
        while let Some(slot) = self.slots.get(number as usize) {
            if slot.partial.key == *key {
                return Some(number);
            }
            number = slot.next_in_bucket;
        }
        None
    }

    /// Makes a datagram that is not there, the newest of its family.
    pub(crate) fn insert(&mut self, key: Key, deadline: Timestamp) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            let number = u32::try_from(self.slots.len()).unwrap_or(NONE);
            self.slots.push(Box::new(Slot {
                partial: Partial::new(),
                next_in_bucket: NONE,
                older: NONE,
                newer: NONE,
                age: 0,
            }));
            number
        });
        self.len = self.len.saturating_add(1);
        self.made = self.made.saturating_add(1);
        let age = self.made;
        let bucket = self.bucket(&key);
        let family = usize::from(key.ipv6);
        let head = self
            .buckets
            .get_mut(bucket)
            .map_or(NONE, |head| core::mem::replace(head, number));
        let older = self
            .ages
            .get_mut(family)
            .map_or(NONE, |ages| core::mem::replace(&mut ages.newest, number));
        match self.slots.get_mut(older as usize) {
            Some(before) => before.newer = number,
            None => self.set_oldest(family, number),
        }
        if let Some(slot) = self.slots.get_mut(number as usize) {
            slot.partial.reset(key, deadline);
            slot.next_in_bucket = head;
            (slot.older, slot.newer, slot.age) = (older, NONE, age);
        }
        number
    }

    /// Takes a datagram out of both orders. Its slot stays the caller's until
    /// [`Table::give_back`].
    pub(crate) fn unlink(&mut self, number: u32) {
        let Some(slot) = self.slots.get(number as usize) else {
            return;
        };
        let (key, next, older, newer) = (
            slot.partial.key,
            slot.next_in_bucket,
            slot.older,
            slot.newer,
        );
        let bucket = self.bucket(&key);
        let mut at = self.buckets.get(bucket).copied().unwrap_or(NONE);
        if at == number {
            if let Some(head) = self.buckets.get_mut(bucket) {
                *head = next;
            }
        } else {
            while let Some(slot) = self.slots.get_mut(at as usize) {
                if slot.next_in_bucket == number {
                    slot.next_in_bucket = next;
                    break;
                }
                at = slot.next_in_bucket;
            }
        }
        let family = usize::from(key.ipv6);
        match self.slots.get_mut(older as usize) {
            Some(before) => before.newer = newer,
            None => self.set_oldest(family, newer),
        }
        match self.slots.get_mut(newer as usize) {
            Some(after) => after.older = older,
            None => {
                if let Some(ages) = self.ages.get_mut(family) {
                    ages.newest = older;
                }
            }
        }
        self.len = self.len.saturating_sub(1);
    }

    /// A slot that was unlinked is free again.
    pub(crate) fn give_back(&mut self, number: u32) {
        self.free.push(number);
    }

    /// The oldest of a family whose deadline has passed.
    pub(crate) fn expired(&self, ipv6: bool, now: Timestamp) -> Option<u32> {
        let number = self.ages.get(usize::from(ipv6))?.oldest;
        (self.get(number)?.deadline <= now).then_some(number)
    }

    /// The oldest of all but `spared`.
    pub(crate) fn oldest_but(&self, spared: u32) -> Option<u32> {
        let oldest = self.ages.iter().filter_map(|ages| {
            let first = self.slots.get(ages.oldest as usize)?;
            if ages.oldest != spared {
                return Some((first.age, ages.oldest));
            }
            let second = self.slots.get(first.newer as usize)?;
            Some((second.age, first.newer))
        });
        oldest.min().map(|(_, number)| number)
    }

    fn set_oldest(&mut self, family: usize, number: u32) {
        if let Some(ages) = self.ages.get_mut(family) {
            ages.oldest = number;
        }
    }

    fn bucket(&self, key: &Key) -> usize {
        let head = u64::from(key.id) | u64::from(key.protocol) << 32 | u64::from(key.ipv6) << 40;
        let mut hash = self.secret;
        let ([a, b], [c, d]) = (halves(key.source), halves(key.destination));
        for word in [head, a, b, c, d] {
            hash = fold(hash ^ word, MULTIPLIER).wrapping_add(self.secret.rotate_left(32));
        }
        // The middle of a product depends on all bits. The number of buckets is a power of two.
        let middle = usize::try_from(hash >> 20 & 0xffff_ffff).unwrap_or(0);
        middle & self.buckets.len().wrapping_sub(1)
    }
}

/// The two halves of a 128-bit product, folded.
fn fold(a: u64, b: u64) -> u64 {
    let [high, low] = halves(u128::from(a).wrapping_mul(u128::from(b)));
    high ^ low
}

fn halves(word: u128) -> [u64; 2] {
    let [a, b, c, d, e, f, g, h, rest @ ..] = word.to_be_bytes();
    [
        u64::from_be_bytes([a, b, c, d, e, f, g, h]),
        u64::from_be_bytes(rest),
    ]
}

/// The golden ratio in 64 bits.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
