//! What hosts remember for rules: counted alerts, and bits that expire. In the order of keys.

use core::net::IpAddr;
use flowpin_packet::Timestamp;
use flowpin_record::Uid;
use flowpin_rule::{BitAction, Count, CountKind, Track};
use std::collections::HashMap;
use std::hash::Hash;

/// Whom something is remembered of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Of {
    Host(IpAddr),
    Hosts(IpAddr, IpAddr),
    Connection(Uid),
    All,
}

impl Of {
    pub(crate) fn new(track: Track, (from, to): (IpAddr, IpAddr), uid: Uid) -> Self {
        match track {
            Track::Source => Self::Host(from),
            Track::Destination => Self::Host(to),
            // Whoever speaks: the pair is the same.
            Track::Both if from <= to => Self::Hosts(from, to),
            Track::Both => Self::Hosts(to, from),
            Track::Flow => Self::Connection(uid),
            Track::Rule => Self::All,
        }
    }
}

/// Entries with an end, bounded in number.
#[derive(Debug)]
struct Expiring<K, V> {
    entries: HashMap<K, (Timestamp, V)>,
    /// When it was looked through last: so many entries are waited for before the next time.
    full_at: usize,
}

impl<K, V> Default for Expiring<K, V> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            full_at: LOOKED_THROUGH,
        }
    }
}

impl<K: Eq + Hash + Copy, V: Copy> Expiring<K, V> {
    /// The entry, if it has not ended.
    fn get(&self, key: &K, now: Timestamp) -> Option<V> {
        let &(end, value) = self.entries.get(key)?;
        (now < end).then_some(value)
    }

    fn end(&self, key: &K) -> Option<Timestamp> {
        self.entries.get(key).map(|entry| entry.0)
    }

    /// Sets an entry; false if there is no room for another one.
    fn set(&mut self, key: K, now: Timestamp, end: Timestamp, value: V) -> bool {
        if self.entries.len() >= self.full_at {
            self.entries.retain(|_, entry| now < entry.0);
            self.full_at = (self.entries.len() * 2).clamp(LOOKED_THROUGH, ENTRIES_MAX);
        }
        if self.entries.len() >= ENTRIES_MAX && !self.entries.contains_key(&key) {
            return false;
        }
        self.entries.insert(key, (end, value));
        true
    }
}

/// What hosts remember.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    counts: Expiring<(u32, CountKind, Of), u32>,
    bits: Expiring<(u16, Of), ()>,
    /// What was not kept for lack of room.
    pub(crate) left_out: u64,
}

impl Hosts {
    /// Counts an alert of a rule; whether it is to be written.
    pub(crate) fn count(&mut self, rule: u32, count: &Count, of: Of, now: Timestamp) -> bool {
        let key = (rule, count.kind, of);
        let known = self.counts.get(&key, now);
        let nth = known.unwrap_or(0).saturating_add(1);
        let (is_written, kept) = match count.kind {
            CountKind::Limit => (nth <= count.count, nth),
            CountKind::Threshold if nth >= count.count => (true, 0),
            CountKind::Threshold => (false, nth),
            CountKind::Both => (nth == count.count, nth),
            CountKind::DetectionFilter => (nth > count.count, nth),
            CountKind::Backoff => (true, nth),
        };
        let begun = known.and(self.counts.end(&key));
        let end = begun.unwrap_or_else(|| now.plus_nanos(u64::from(count.seconds) * SECOND_NS));
        let has_room = self.counts.set(key, now, end, kept);
        self.left_out += u64::from(!has_room);
        is_written || !has_room
    }

    /// Whether a bit is set.
    pub(crate) fn is_set(&self, name: u16, of: Of, now: Timestamp) -> bool {
        self.bits.get(&(name, of), now).is_some()
    }

    /// Changes a bit.
    pub(crate) fn change(
        &mut self,
        action: BitAction,
        bit: (u16, Of),
        now: Timestamp,
        expire_s: u32,
    ) {
        let is_set = self.is_set(bit.0, bit.1, now);
        let end = match (action, is_set) {
            (BitAction::Set, _) | (BitAction::Toggle, false) => {
                now.plus_nanos(u64::from(expire_s) * SECOND_NS)
            }
            (BitAction::Unset, true) | (BitAction::Toggle, true) => now,
            _ => return,
        };
        let has_room = self.bits.set(bit, now, end, ());
        self.left_out += u64::from(!has_room);
    }
}

const SECOND_NS: u64 = 1_000_000_000;
/// Of each kind so many are kept.
const ENTRIES_MAX: usize = 1 << 20;
const LOOKED_THROUGH: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::{Hosts, Of};
    use flowpin_packet::Timestamp;
    use flowpin_rule::{BitAction, Count, CountKind, Track};

    fn written(kind: CountKind, count: u32, seconds: &[u64]) -> Vec<u64> {
        let count = Count {
            kind,
            track: Track::Rule,
            count,
            seconds: 10,
        };
        let mut hosts = Hosts::default();
        let at = |second: u64| Timestamp(second * 1_000_000_000);
        let is_written = |second: &&u64| hosts.count(1, &count, Of::All, at(**second));
        seconds.iter().filter(is_written).copied().collect()
    }

    /// The four ways to count, each within an interval that its first alert begins.
    #[test]
    fn alerts_are_counted_as_rules_say() {
        let times = [1, 2, 3, 4, 5, 11, 12];
        assert_eq!(written(CountKind::Limit, 2, &times), [1, 2, 11, 12]);
        assert_eq!(written(CountKind::Threshold, 2, &times), [2, 4, 12]);
        assert_eq!(written(CountKind::Both, 2, &times), [2, 12]);
        assert_eq!(written(CountKind::DetectionFilter, 2, &times), [3, 4, 5]);
    }

    /// A bit lasts as long as it says.
    #[test]
    fn bits_expire() {
        let mut hosts = Hosts::default();
        let bit = (3, Of::All);
        hosts.change(BitAction::Set, bit, Timestamp(0), 1);
        assert!(hosts.is_set(3, Of::All, Timestamp(999_999_999)));
        assert!(!hosts.is_set(3, Of::All, Timestamp(1_000_000_000)));
        hosts.change(BitAction::Toggle, bit, Timestamp(2_000_000_000), 9);
        assert!(hosts.is_set(3, Of::All, Timestamp(3_000_000_000)));
        hosts.change(BitAction::Unset, bit, Timestamp(3_000_000_000), 9);
        assert!(!hosts.is_set(3, Of::All, Timestamp(3_000_000_000)));
    }
}
