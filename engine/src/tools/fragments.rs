//! Which fragments make a datagram: their packets' numbers.

use flowpin_packet::FragmentRef;
use std::collections::HashMap;

/// Datagrams whose fragments are remembered until they are whole.
const DATAGRAMS_MAX: usize = 1 << 20;

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
        if self.groups.len() >= DATAGRAMS_MAX {
            self.groups.clear();
        }
        let group = self.groups.entry(key.clone()).or_default();
        group.push(fragment.number);
        self.last = Some(key);
        whole
    }

    /// The last fragment has completed its datagram: the numbers of all, in the order in which
    /// they came.
    pub(crate) fn complete(&mut self) -> Option<Vec<u64>> {
        let numbers = self.groups.remove(&self.last.take()?)?;
        (!numbers.is_empty()).then_some(numbers)
    }
}
