//! Where datagrams under way are: found by key, ordered by age, charged to their sources.
//!
//! ```text
//!  key ──► slot ──body──► fragments ──► blocks     one small fragment needs the slot only
//!           │
//!           ├─ oldest ◄──► … ◄──► newest           by age, one list a family: each is in order
//!           │                                      of deadline, expiry looks at its end only
//!           └─ oldest ◄──► … ◄──► newest           by age, one list a source
//! ```
//!
//! Everything is charged: `used` is what datagrams hold, and what is idle in the pools counts as
//! well, so that no sequence of floods makes memory grow past the cap.

mod block;
mod body;
mod cost;
mod hosts;
mod index;
mod overlap;
mod part;
mod pool;
mod slot;

pub(crate) use block::{BLOCK_LEN, blocks_of};
pub(crate) use body::{Body, Header, Lies};
pub(crate) use cost::{BLOCK_COST, BODY_COST, Need, SLOT_COST};
pub(crate) use overlap::refuses;
pub(crate) use part::{Part, slice};
pub(crate) use pool::NONE;
pub(crate) use slot::{Key, Nook};

use block::Block;
use cost::SLOT_COST_NARROW;
use flowpin_packet::Timestamp;
use hosts::Hosts;
use index::Index;
use pool::Pool;
use slot::Slot;

/// The oldest and the newest of a family.
#[derive(Clone, Copy, Debug)]
struct Ages {
    oldest: u32,
    newest: u32,
}

#[derive(Debug)]
pub(crate) struct Store {
    slots: Pool<Slot>,
    bodies: Pool<Body>,
    blocks: Pool<Block>,
    keys: Index,
    hosts: Hosts,
    /// IPv4's and IPv6's.
    ages: [Ages; 2],
    len: usize,
    used: u64,
}

impl Store {
    pub(crate) fn new(secret: u64) -> Self {
        let none = Ages {
            oldest: NONE,
            newest: NONE,
        };
        Self {
            slots: Pool::default(),
            bodies: Pool::default(),
            blocks: Pool::default(),
            keys: Index::new(secret),
            hosts: Hosts::new(secret),
            ages: [none; 2],
            len: 0,
            used: 0,
        }
    }

    /// What datagrams hold.
    pub(crate) const fn used(&self) -> u64 {
        self.used
    }

    /// What is allocated: `used`, and what is idle.
    pub(crate) const fn allocated(&self) -> u64 {
        self.used.saturating_add(self.idle().cost())
    }

    /// Whether `need` can be had within `memory`, if need be by freeing what is idle and of
    /// another kind.
    pub(crate) fn has_room(&mut self, need: Need, memory: u64) -> bool {
        loop {
            let idle = self.idle();
            let new = Need {
                slots: need.slots.saturating_sub(idle.slots),
                bodies: need.bodies.saturating_sub(idle.bodies),
                blocks: need.blocks.saturating_sub(idle.blocks),
                list_bytes: need.list_bytes,
            };
            if self.allocated().saturating_add(new.cost()) <= memory {
                return true;
            }
            if idle.blocks > need.blocks {
                self.blocks.drop_idle();
            } else if idle.bodies > need.bodies {
                self.bodies.drop_idle();
            } else if idle.slots > need.slots {
                self.slots.drop_idle();
            } else {
                return false;
            }
        }
    }

    const fn idle(&self) -> Need {
        Need {
            slots: self.slots.idle_count(),
            bodies: self.bodies.idle_count(),
            blocks: self.blocks.idle_count(),
            list_bytes: 0,
        }
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<&Slot> {
        self.slots.get(slot)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Slot> {
        self.slots.get_mut(slot)
    }

    pub(crate) fn body(&self, slot: u32) -> Option<&Body> {
        self.bodies.get(self.slots.get(slot)?.body)
    }

    /// A datagram's body, and where its blocks are.
    pub(crate) fn body_and_blocks(&mut self, slot: u32) -> Option<(&mut Body, &mut Pool<Block>)> {
        let body = self.slots.get(slot)?.body;
        Some((self.bodies.get_mut(body)?, &mut self.blocks))
    }

    /// A block's bytes.
    pub(crate) fn block(&self, number: u32) -> Option<&[u8; BLOCK_LEN]> {
        self.blocks.get(number).map(|block| &block.bytes)
    }

    /// Charges a datagram, and its source.
    pub(crate) fn charge(&mut self, slot: u32, cost: u64) {
        self.used = self.used.saturating_add(cost);
        let Some(slot) = self.slots.get_mut(slot) else {
            return;
        };
        let narrow = u32::try_from(cost).unwrap_or(u32::MAX);
        slot.cost = slot.cost.saturating_add(narrow);
        if let Some(host) = self.hosts.get_mut(slot.host) {
            host.cost = host.cost.saturating_add(cost);
        }
    }

    pub(crate) fn find(&self, key: &Key) -> Option<u32> {
        let mut number = self.keys.head(&words(key));
        while let Some(slot) = self.slots.get(number) {
            if slot.key == *key {
                return Some(number);
            }
            number = slot.next_in_bucket;
        }
        None
    }

    /// What the source of `key` holds.
    pub(crate) fn host_cost(&self, key: &Key) -> u64 {
        let host = self.hosts.find(key).and_then(|host| self.hosts.get(host));
        host.map_or(0, |host| host.cost)
    }

    /// Makes a datagram that is not there, the newest of its family and of its source.
    pub(crate) fn insert(&mut self, key: Key, deadline: Timestamp) -> u32 {
        self.len = self.len.saturating_add(1);
        if self.keys.is_crowded(self.len) {
            self.spread();
        }
        let number = self.slots.take(Slot::new);
        let host = self.hosts.find_or_add(&key);
        let next_in_bucket = self.keys.push(&words(&key), number);
        let ages = self.ages.get_mut(usize::from(key.ipv6));
        let older = ages.map_or(NONE, |ages| {
            if ages.oldest == NONE {
                ages.oldest = number;
            }
            core::mem::replace(&mut ages.newest, number)
        });
        if let Some(older) = self.slots.get_mut(older) {
            older.newer = number;
        }
        let host_older = self.hosts.get_mut(host).map_or(NONE, |host| {
            if host.oldest == NONE {
                host.oldest = number;
            }
            core::mem::replace(&mut host.newest, number)
        });
        if let Some(older) = self.slots.get_mut(host_older) {
            older.host_newer = number;
        }
        if let Some(slot) = self.slots.get_mut(number) {
            // The nook is left as it is: it is written whole when it is.
            slot.key = key;
            slot.deadline = deadline;
            slot.cost = 0;
            slot.next_in_bucket = next_in_bucket;
            (slot.older, slot.newer) = (older, NONE);
            (slot.host, slot.host_older, slot.host_newer) = (host, host_older, NONE);
            slot.count = 0;
            slot.is_capped = false;
            slot.body = NONE;
        }
        self.charge(number, SLOT_COST);
        number
    }

    /// Takes a datagram out of all orders, so that no other fragment comes to it. It stays
    /// charged, and the caller's, until [`Store::release`].
    pub(crate) fn unlink(&mut self, number: u32) {
        let Some(slot) = self.slots.get(number) else {
            return;
        };
        let (key, next) = (slot.key, slot.next_in_bucket);
        let (older, newer) = (slot.older, slot.newer);
        let (host, cost) = (slot.host, u64::from(slot.cost));
        let (host_older, host_newer) = (slot.host_older, slot.host_newer);
        self.unchain(number, &key, next);
        if let Some(ages) = self.ages.get_mut(usize::from(key.ipv6)) {
            if ages.oldest == number {
                ages.oldest = newer;
            }
            if ages.newest == number {
                ages.newest = older;
            }
        }
        if let Some(older) = self.slots.get_mut(older) {
            older.newer = newer;
        }
        if let Some(newer) = self.slots.get_mut(newer) {
            newer.older = older;
        }
        if let Some(older) = self.slots.get_mut(host_older) {
            older.host_newer = host_newer;
        }
        if let Some(newer) = self.slots.get_mut(host_newer) {
            newer.host_older = host_older;
        }
        if let Some(entry) = self.hosts.get_mut(host) {
            entry.cost = entry.cost.saturating_sub(cost);
            if entry.oldest == number {
                entry.oldest = host_newer;
            }
            if entry.newest == number {
                entry.newest = host_older;
            }
            if entry.oldest == NONE {
                self.hosts.remove(host);
            }
        }
        if let Some(slot) = self.slots.get_mut(number) {
            slot.host = NONE;
        }
        self.len = self.len.saturating_sub(1);
    }

    /// Frees a datagram that was unlinked.
    pub(crate) fn release(&mut self, number: u32) {
        self.free_body(number);
        if let Some(slot) = self.slots.get(number) {
            self.used = self.used.saturating_sub(u64::from(slot.cost));
            self.slots.give_back(number);
        }
    }

    /// Frees a datagram's fragments; its slot stays.
    pub(crate) fn free_body(&mut self, number: u32) {
        let Some(slot) = self.slots.get_mut(number) else {
            return;
        };
        slot.nook = Nook::EMPTY;
        let Some(body) = self.bodies.get_mut(slot.body) else {
            return;
        };
        let freed = slot.cost.saturating_sub(SLOT_COST_NARROW);
        slot.cost = slot.cost.saturating_sub(freed);
        if let Some(host) = self.hosts.get_mut(slot.host) {
            host.cost = host.cost.saturating_sub(u64::from(freed));
        }
        self.used = self.used.saturating_sub(u64::from(freed));
        for number in &mut body.blocks {
            if let Some(block) = self.blocks.get_mut(*number) {
                block.clear();
                self.blocks.give_back(*number);
                *number = NONE;
            }
        }
        body.reset();
        self.bodies.give_back(slot.body);
        slot.body = NONE;
    }

    /// Gives a datagram a body; the caller charges it.
    pub(crate) fn give_body(&mut self, number: u32) {
        let body = self.bodies.take(Body::new);
        if let Some(slot) = self.slots.get_mut(number) {
            slot.body = body;
        }
    }

    /// The oldest of a family whose deadline has passed.
    pub(crate) fn expired(&self, ipv6: bool, now: Timestamp) -> Option<u32> {
        let number = self.ages.get(usize::from(ipv6))?.oldest;
        (self.get(number)?.deadline <= now).then_some(number)
    }

    /// The oldest of a family but `spared`, and when its time is up.
    pub(crate) fn oldest_but(&self, spared: u32, ipv6: bool) -> Option<(Timestamp, u32)> {
        let mut number = self.ages.get(usize::from(ipv6))?.oldest;
        if number == spared {
            number = self.get(number)?.newer;
        }
        Some((self.get(number)?.deadline, number))
    }

    /// The oldest of the source of `key` but `spared`.
    pub(crate) fn oldest_of_host_but(&self, spared: u32, key: &Key) -> Option<u32> {
        let host = self.hosts.get(self.hosts.find(key)?)?;
        let number = if host.oldest == spared {
            self.get(spared)?.host_newer
        } else {
            host.oldest
        };
        self.get(number).map(|_| number)
    }

    fn unchain(&mut self, number: u32, key: &Key, next: u32) {
        let words = words(key);
        let mut at = self.keys.head(&words);
        if at == number {
            return self.keys.set_head(&words, next);
        }
        while let Some(slot) = self.slots.get_mut(at) {
            if slot.next_in_bucket == number {
                slot.next_in_bucket = next;
                break;
            }
            at = slot.next_in_bucket;
        }
    }

    /// More buckets, and everything in them again.
    #[cold]
    fn spread(&mut self) {
        self.keys.grow();
        for ages in self.ages {
            let mut number = ages.oldest;
            while let Some(slot) = self.slots.get_mut(number) {
                slot.next_in_bucket = self.keys.push(&words(&slot.key), number);
                number = slot.newer;
            }
        }
    }
}

const fn words(key: &Key) -> [u64; 5] {
    let head = key.id as u64 | (key.context as u64) << 32;
    let [a, b] = key.source;
    let [c, d] = key.destination;
    // Protocol and family go where addresses rarely have bits that matter.
    let family = (key.protocol as u64) << 1 | key.ipv6 as u64;
    [head, a ^ family.rotate_right(16), b, c, d]
}
