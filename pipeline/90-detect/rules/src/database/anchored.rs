//! Fast patterns that may begin at few places alone: looked up there, not searched for.

use super::fast::Fast;
use std::collections::BTreeMap;

/// Patterns by the places where they may begin.
#[derive(Debug)]
pub(crate) struct Anchored {
    places: Box<[Place]>,
}

/// A place, and the patterns that may begin there.
#[derive(Debug)]
struct Place {
    at: usize,
    /// A bit for each byte that some pattern begins with, in either case.
    first: [u64; 4],
    /// In the order of their first bytes: in small letters, and the rule.
    patterns: Box<[(Box<[u8]>, u32)]>,
}

impl Anchored {
    /// For rules and their patterns; none if there are none.
    pub(crate) fn new(fast: &[(u32, Fast)]) -> Option<Self> {
        let mut places = BTreeMap::<u32, Vec<(Box<[u8]>, u32)>>::new();
        for (rule, one) in fast {
            for at in one.places.clone() {
                let of_place = places.entry(at).or_default();
                of_place.push((one.pattern.clone().into(), *rule));
            }
        }
        let made = places.into_iter().map(|(at, mut patterns)| {
            patterns.sort();
            let mut first = [0; 4];
            for byte in patterns.iter().filter_map(|one| one.0.first()) {
                for byte in [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()] {
                    if let Some(word) = first.get_mut(usize::from(byte >> 6)) {
                        *word |= 1 << (byte & 63);
                    }
                }
            }
            Place {
                at: at as usize,
                first,
                patterns: patterns.into(),
            }
        });
        let places: Box<[Place]> = made.collect();
        (!places.is_empty()).then_some(Self { places })
    }

    /// Calls `hit` with each rule whose pattern stands at one of its places.
    pub(crate) fn search(&self, bytes: &[u8], hit: &mut dyn FnMut(u32)) {
        for place in &self.places {
            // In order: no later one is there, either.
            let Some(&byte) = bytes.get(place.at) else {
                return;
            };
            let word = place.first.get(usize::from(byte >> 6));
            if word.is_some_and(|word| word >> (byte & 63) & 1 != 0) {
                place.look(bytes, byte.to_ascii_lowercase(), hit);
            }
        }
    }
}

impl Place {
    fn look(&self, bytes: &[u8], first: u8, hit: &mut dyn FnMut(u32)) {
        let text = bytes.get(self.at..).unwrap_or_default();
        let begin = self
            .patterns
            .partition_point(|one| one.0.first() < Some(&first));
        let patterns = self.patterns.get(begin..).unwrap_or_default();
        for (pattern, rule) in patterns
            .iter()
            .take_while(|one| one.0.first() == Some(&first))
        {
            let there = text.get(..pattern.len());
            if there.is_some_and(|there| there.eq_ignore_ascii_case(pattern)) {
                hit(*rule);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Anchored, Fast};

    /// Patterns are found at their places alone, in either case.
    #[test]
    fn patterns_are_found_at_their_places() {
        let fast = |pattern: &[u8], places| Fast {
            inspection: 0,
            pattern: pattern.to_vec(),
            places,
        };
        let all = [
            (1, fast(b"get", 0..=0)),
            (2, fast(b"et", 1..=3)),
            (3, fast(b"t", 9..=9)),
        ];
        let anchored = Anchored::new(&all).unwrap();
        let found = |text: &str| {
            let mut found = Vec::new();
            anchored.search(text.as_bytes(), &mut |rule| found.push(rule));
            found
        };
        assert_eq!(found("GET / et T"), [1, 2, 3]);
        assert_eq!(found(" GET"), [2]);
        assert_eq!(found(" G ET"), [2]);
        assert_eq!(found(" G  ET"), [0; 0]);
        assert_eq!(found("ge"), [0; 0]);
    }
}
