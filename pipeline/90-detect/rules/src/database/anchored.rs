//! Fast patterns that may begin at few places alone: looked up there, not searched for.
//!
//! ```text
//!  pattern ─► its rarest four bytes, or all ─► key: these, their place, their number ─► bitmap
//!  text ────► at each place with keys: the bytes there ─► bitmap ─► few: whole pattern ─► rules
//! ```

use super::far::Place;
use super::fast::Fast;
use super::ports::Wanted;
use super::search::{GRAM, Rarity};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Patterns by the places where they may begin.
#[derive(Debug)]
pub(crate) struct Anchored {
    /// In the order of their places.
    keys: Box<[Key]>,
    /// A bit for each hash of a key that some pattern has.
    seen: Box<[u64; SEEN_WORDS]>,
    /// In the order of their hashes.
    entries: Box<[Entry]>,
    patterns: Box<[Pattern]>,
    wanted: Arc<Wanted>,
    /// No pattern ends behind so many bytes.
    reach: usize,
}

/// Some of the keys: of one length, at one place of the text.
#[derive(Debug)]
struct Key {
    at: usize,
    len: usize,
    mask: u32,
    salt: u32,
}

impl Key {
    fn new((at, len): (usize, usize)) -> Self {
        let of_place = (at as u32).wrapping_mul(8).wrapping_add(len as u32);
        Self {
            at,
            len,
            // Four bytes at most.
            mask: u32::MAX >> (32 - 8 * len),
            salt: of_place.wrapping_mul(0x85eb_ca6b),
        }
    }

    /// Knuth's multiplicative hash (The Art of Computer Programming 3, 6.4).
    #[inline]
    const fn hash(&self, word: u32) -> u32 {
        ((word & self.mask) ^ self.salt).wrapping_mul(0x9e37_79b1)
    }
}

/// A key of a pattern.
#[derive(Debug)]
struct Entry {
    hash: u32,
    pattern: u32,
}

/// A pattern at a place: in small letters, and its rules with the ports that they need.
#[derive(Debug)]
struct Pattern {
    at: usize,
    bytes: Box<[u8]>,
    rules: Box<[(u32, u16)]>,
}

impl Anchored {
    /// For rules and their patterns; none if there are none.
    pub(crate) fn new(fast: &[(u32, Fast)], wanted: &Arc<Wanted>, by_ports: bool) -> Option<Self> {
        let mut known = BTreeMap::<(u32, &[u8]), Vec<(u32, u16)>>::new();
        for (rule, one) in fast {
            for at in one.places.clone() {
                let rules = known.entry((at, &one.pattern)).or_default();
                rules.push((*rule, if by_ports { wanted.of(*rule) } else { 0 }));
            }
        }
        let rarity = Rarity::of(known.keys().map(|one| one.1));
        let mut keys = BTreeMap::<(usize, usize), Key>::new();
        let mut entries = Vec::with_capacity(known.len());
        for (pattern, &(at, bytes)) in (0..).zip(known.keys()) {
            // What stands later tells more apart, but is one place more to look at.
            let head = bytes.get(..KEYS_WITHIN).unwrap_or(bytes);
            let begin = if head.len() > GRAM {
                rarity.rarest(head, 1).start
            } else {
                0
            };
            let four = head.get(begin..).unwrap_or_default();
            let place = (at as usize + begin, four.len().clamp(1, GRAM));
            let key = keys.entry(place).or_insert_with(|| Key::new(place));
            let hash = key.hash(word(four));
            entries.push(Entry { hash, pattern });
        }
        let patterns = known.into_iter().map(|((at, bytes), rules)| Pattern {
            at: at as usize,
            bytes: bytes.into(),
            rules: rules.into(),
        });
        let patterns: Box<[Pattern]> = patterns.collect();
        let mut seen = Box::new([0; SEEN_WORDS]);
        for one in &entries {
            if let Some(word) = seen.get_mut(bit(one.hash) >> 6) {
                *word |= 1_u64 << (bit(one.hash) & 63);
            }
        }
        entries.sort_unstable_by_key(|one| (one.hash, one.pattern));
        Some(Self {
            keys: keys.into_values().collect(),
            seen,
            entries: entries.into(),
            reach: patterns.iter().map(|one| one.at + one.bytes.len()).max()?,
            patterns,
            wanted: Arc::clone(wanted),
        })
    }

    /// No pattern ends behind so many bytes.
    pub(crate) const fn reach(&self) -> usize {
        self.reach
    }

    /// Calls `hit` with each rule that may fit there and whose pattern stands at one of its places
    /// in the folded text, of which no more than the [reach](Self::reach) has to be there.
    pub(crate) fn search(&self, folded: &[u8], place: Place, hit: &mut dyn FnMut(u32)) {
        for key in &self.keys {
            let word = match folded
                .get(key.at..)
                .and_then(|rest| rest.first_chunk::<GRAM>())
            {
                Some(&four) => u32::from_le_bytes(four),
                None => match folded.get(key.at..) {
                    Some(rest) if rest.len() >= key.len => word(rest),
                    Some(_) => continue,
                    // In order: no later one is there, either.
                    None => return,
                },
            };
            let hash = key.hash(word);
            let bits = self.seen.get(bit(hash) >> 6).copied().unwrap_or(0);
            if bits >> (bit(hash) & 63) & 1 != 0 {
                self.look(folded, hash, place, hit);
            }
        }
    }

    fn look(&self, folded: &[u8], hash: u32, place: Place, hit: &mut dyn FnMut(u32)) {
        let begin = self.entries.partition_point(|one| one.hash < hash);
        let entries = self.entries.get(begin..).unwrap_or_default();
        for entry in entries.iter().take_while(|one| one.hash == hash) {
            let Some(pattern) = self.patterns.get(entry.pattern as usize) else {
                continue;
            };
            let there = folded.get(pattern.at..pattern.at + pattern.bytes.len());
            if there == Some(&pattern.bytes) {
                let rules = pattern.rules.iter();
                let fitting = rules.filter(|(_, ports)| self.wanted.are_those(*ports, place));
                fitting.for_each(|&(rule, _)| hit(rule));
            }
        }
    }
}

/// The first bytes of a text, at most four; zeros where it is shorter.
fn word(bytes: &[u8]) -> u32 {
    let mut word = [0; GRAM];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    u32::from_le_bytes(word)
}

/// Which bit of the bitmap is a hash's.
const fn bit(hash: u32) -> usize {
    (hash >> (32 - SEEN_BITS)) as usize
}

/// Keys lie within so many bytes of a pattern's beginning.
const KEYS_WITHIN: usize = 8;
const SEEN_BITS: u32 = 15;
const SEEN_WORDS: usize = 1 << (SEEN_BITS - 6);

#[cfg(test)]
mod tests {
    use super::{Anchored, Fast};
    use crate::database::far::Place;
    use crate::database::search::fold_into;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    fn fast(pattern: &[u8], places: core::ops::RangeInclusive<u32>) -> Fast {
        Fast {
            inspection: 0,
            pattern: pattern.to_vec(),
            places,
        }
    }

    fn found(anchored: &Anchored, text: &str) -> BTreeSet<u32> {
        let mut folded = Vec::new();
        fold_into(text.as_bytes(), &mut folded);
        let mut found = BTreeSet::new();
        let place = Place { ports: (1, 2) };
        anchored.search(&folded, place, &mut |rule| {
            found.insert(rule);
        });
        found
    }

    /// Patterns are found at their places alone, in either case.
    #[test]
    fn patterns_are_found_at_their_places() {
        let all = [
            (1, fast(b"get", 0..=0)),
            (2, fast(b"et", 1..=3)),
            (3, fast(b"t", 9..=9)),
        ];
        let anchored = Anchored::new(&all, &Arc::default(), true).unwrap();
        let found = |text: &str| found(&anchored, text).into_iter().collect::<Vec<_>>();
        assert_eq!(found("GET / et T"), [1, 2, 3]);
        assert_eq!(found(" GET"), [2]);
        assert_eq!(found(" G ET"), [2]);
        assert_eq!(found(" G  ET"), [0; 0]);
        assert_eq!(found("ge"), [0; 0]);
    }

    proptest! {
        /// Each pattern is found at each of its places, whatever stands around it, and nowhere
        /// else.
        #[test]
        fn all_patterns_are_found_at_all_places(
            patterns in proptest::collection::vec(("[ab.]{1,20}", 0_u32..8, 0_u32..4), 1..40),
            text in "[abAB.]{0,32}",
        ) {
            let all: Vec<(u32, Fast)> = (0..).zip(&patterns).map(|(rule, (pattern, from, more))| {
                (rule, fast(pattern.as_bytes(), *from..=from + more))
            }).collect();
            let anchored = Anchored::new(&all, &Arc::default(), true).unwrap();
            let small = text.to_ascii_lowercase();
            let stands = |one: &Fast| one.places.clone().any(|at| {
                let rest = small.as_bytes().get(at as usize..);
                rest.is_some_and(|rest| rest.starts_with(&one.pattern))
            });
            let expected = all.iter().filter(|one| stands(&one.1)).map(|one| one.0);
            prop_assert_eq!(found(&anchored, &text), expected.collect());
        }
    }
}
