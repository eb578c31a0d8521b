//! Which fragments make a datagram: their packets' numbers.

use flowpin_packet::FragmentRef;
use std::collections::HashMap;

/// Datagrams whose fragments are remembered until they are whole: more than are put together at
/// once.
const DATAGRAMS_MAX: usize = 1 << 18;

/// Their fragments. A datagram has 8,192 at most, but the same one may come again and again.
const FRAGMENTS_MAX: usize = 1 << 22;

/// Which datagram a fragment belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct GroupKey {
    addresses: Vec<u8>,
    id: u32,
    protocol: u8,
}

/// The fragments of datagrams that are not whole.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    groups: HashMap<GroupKey, Vec<u64>>,
    last: Option<GroupKey>,
    /// How many are remembered.
    remembered: usize,
    /// How many are not any more, though their datagrams were not whole.
    forgotten: u64,
}

impl Fragments {
    /// A fragment came. Returns the numbers of a whole datagram's, if this one lies in the
    /// datagram that the last fragment completed.
    pub(crate) fn add(&mut self, fragment: &FragmentRef, bytes: &[u8]) -> Option<Vec<u64>> {
        let nested = self.last.as_ref().and_then(|key| self.groups.get(key));
        let is_nested = nested.is_some_and(|numbers| numbers.last() == Some(&fragment.number));
        let whole = if is_nested { self.complete() } else { None };
        let range = if fragment.ipv6 { 8..40 } else { 12..20 };
        let header = bytes
            .get(fragment.header_start as usize..)
            .unwrap_or_default();
        let key = GroupKey {
            addresses: header.get(range).unwrap_or_default().to_vec(),
            id: fragment.id,
            protocol: if fragment.ipv6 { 0 } else { fragment.protocol },
        };
        if self.groups.len() >= DATAGRAMS_MAX || self.remembered >= FRAGMENTS_MAX {
            self.groups.clear();
            self.forgotten += core::mem::take(&mut self.remembered) as u64;
        }
        let group = self.groups.entry(key.clone()).or_default();
        group.push(fragment.number);
        self.remembered += 1;
        self.last = Some(key);
        whole
    }

    /// The last fragment has completed its datagram: the numbers of all, in the order in which
    /// they came.
    pub(crate) fn complete(&mut self) -> Option<Vec<u64>> {
        let numbers = self.groups.remove(&self.last.take()?)?;
        self.remembered = self.remembered.saturating_sub(numbers.len());
        (!numbers.is_empty()).then_some(numbers)
    }

    /// How many fragments were forgotten since this was asked last.
    pub(crate) fn take_forgotten(&mut self) -> u64 {
        core::mem::take(&mut self.forgotten)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(number: u64, id: u32) -> FragmentRef {
        FragmentRef {
            number,
            id,
            ..FragmentRef::default()
        }
    }

    /// One datagram's, again and again, and those of many: neither grows without end, and what is
    /// forgotten is counted. What comes after is remembered.
    #[test]
    fn floods_are_forgotten_and_counted() {
        let mut fragments = Fragments::default();
        for number in 0..=FRAGMENTS_MAX as u64 {
            assert_eq!(fragments.add(&fragment(number, 1), &[0; 20]), None);
        }
        assert_eq!(fragments.take_forgotten(), FRAGMENTS_MAX as u64);
        assert_eq!(fragments.complete(), Some(vec![FRAGMENTS_MAX as u64]));
        for id in 0..=DATAGRAMS_MAX {
            let id = u32::try_from(id).unwrap();
            fragments.add(&fragment(u64::from(id), id), &[0; 20]);
        }
        assert_eq!(fragments.take_forgotten(), DATAGRAMS_MAX as u64);
        assert_eq!(fragments.take_forgotten(), 0);
    }
}
