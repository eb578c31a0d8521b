//! Sets of values that buffers are looked up in: a million entries, each once, side by side.
//!
//! ```text
//!  hash of a value ─► slots: place + 1, or 0 ─► starts ─► bytes: all values, one behind another
//! ```

use core::hash::{BuildHasher, Hash};
use std::collections::hash_map::RandomState;

/// A set of values, with a number for each if they have any. Lookups take the same time for any
/// values: whoever sends them does not know the hash.
///
/// ```
/// let mut set = flowpin_rule::ValueSet::default();
/// assert!(set.add(b"evil.example", 0));
/// assert!(!set.add(b"evil.example", 0));
/// assert!(set.contains(b"evil.example"));
/// assert!(!set.contains(b"www.evil.example"));
/// assert!(set.contains_domain(b"WWW.evil.example"));
/// assert!(!set.contains_domain(b"notevil.example"));
/// ```
#[derive(Clone, Debug)]
pub struct ValueSet {
    bytes: Vec<u8>,
    /// Where each value ends.
    ends: Vec<u32>,
    /// The number of each; none if all are 0.
    numbers: Vec<u16>,
    slots: Vec<u32>,
    hash: RandomState,
}

impl Default for ValueSet {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            numbers: Vec::new(),
            slots: vec![0; SLOTS_MIN],
            hash: RandomState::new(),
        }
    }
}

/// Sets with the same values in the same order.
impl PartialEq for ValueSet {
    fn eq(&self, other: &Self) -> bool {
        (&self.bytes, &self.ends, &self.numbers) == (&other.bytes, &other.ends, &other.numbers)
    }
}

impl Eq for ValueSet {}

impl ValueSet {
    /// Adds a value with its number; whether it is new. One that is there keeps its number. None
    /// is added to a set of 4 GiB.
    pub fn add(&mut self, value: &[u8], number: u16) -> bool {
        let Ok(end) = u32::try_from(self.bytes.len() + value.len()) else {
            return false;
        };
        let slot = match self.find(value) {
            Ok(_) => return false,
            Err(slot) => slot,
        };
        self.bytes.extend_from_slice(value);
        self.ends.push(end);
        if number != 0 {
            self.numbers.resize(self.ends.len() - 1, 0);
            self.numbers.push(number);
        }
        if let Some(place) = self.slots.get_mut(slot) {
            *place = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        }
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        true
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether a value is in it.
    pub fn contains(&self, value: &[u8]) -> bool {
        self.find(value).is_ok()
    }

    /// Whether a host is in it, or one of the domains that it lies in; letters of either case, the
    /// set's in small ones. A dot at the end does not count.
    pub fn contains_domain(&self, host: &[u8]) -> bool {
        let host = host.strip_suffix(b".").unwrap_or(host);
        // Whoever sends a name of dots alone, as long as a field may be, would have each of its
        // ends looked up: quadratic.
        if host.len() > NAME_MAX {
            return false;
        }
        let name = host.to_ascii_lowercase();
        let mut rest = name.as_slice();
        loop {
            if self.contains(rest) {
                return true;
            }
            let dot = rest.iter().position(|&byte| byte == b'.');
            match dot.and_then(|dot| rest.get(dot + 1..)) {
                Some(domain) => rest = domain,
                None => return false,
            }
        }
    }

    /// The number of a value that is in it.
    pub fn number(&self, value: &[u8]) -> Option<u16> {
        let place = self.find(value).ok()?;
        Some(self.numbers.get(place).copied().unwrap_or(0))
    }

    /// The place of a value, or the slot where it would be.
    fn find(&self, value: &[u8]) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut hasher = self.hash.build_hasher();
        value.hash(&mut hasher);
        let hash = core::hash::Hasher::finish(&hasher);
        let mut slot = usize::try_from(hash & mask as u64).unwrap_or(0);
        // Half of the slots are free.
        loop {
            match self.slots.get(slot) {
                None | Some(0) => return Err(slot),
                Some(&place) => {
                    let place = place as usize - 1;
                    if self.value(place) == value {
                        return Ok(place);
                    }
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    fn value(&self, place: usize) -> &[u8] {
        let before = place
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        let start = before.copied().unwrap_or(0) as usize;
        let end = self.ends.get(place).copied().unwrap_or(0) as usize;
        self.bytes.get(start..end).unwrap_or_default()
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        for place in 0..self.ends.len() {
            if let Err(slot) = self.find(self.value(place))
                && let Some(free) = self.slots.get_mut(slot)
            {
                *free = u32::try_from(place + 1).unwrap_or(u32::MAX);
            }
        }
    }
}

/// RFC 1035 §2.3.4: longer names are no hosts.
const NAME_MAX: usize = 255;
/// A power of two, as all sizes of the table.
const SLOTS_MIN: usize = 8;

#[cfg(test)]
mod tests {
    use super::ValueSet;
    use std::collections::HashMap;

    /// As the library's map has it, also the empty value.
    #[test]
    fn values_are_found_with_their_numbers() {
        let mut set = ValueSet::default();
        let mut known = HashMap::new();
        for number in 0..20_000_u32 {
            let value = (number * number % 7919).to_string().into_bytes();
            let is_new = !known.contains_key(&value);
            let reputation = u16::try_from(number % 128).unwrap();
            known.entry(value.clone()).or_insert(reputation);
            assert_eq!(set.add(&value, reputation), is_new);
        }
        assert_eq!(set.len(), known.len());
        for number in 0..20_000_u32 {
            let value = number.to_string().into_bytes();
            assert_eq!(set.number(&value), known.get(&value).copied());
        }
        assert!(!set.contains(b"") && set.add(b"", 3) && set.number(b"") == Some(3));
    }

    /// A domain has all below it, and nothing beside it.
    #[test]
    fn hosts_lie_in_domains() {
        let mut set = ValueSet::default();
        set.add(b"a.example", 0);
        for host in [&b"a.example"[..], b"A.Example.", b"x.y.a.example"] {
            assert!(set.contains_domain(host), "{host:?}");
        }
        for host in [&b"example"[..], b"ba.example", b"a.example.org", b"", b"."] {
            assert!(!set.contains_domain(host), "{host:?}");
        }
        let long = [vec![b'.'; 1 << 16], b"a.example".to_vec()].concat();
        assert!(!set.contains_domain(&long));
    }
}
