//! Searching a buffer for all fast patterns of its rules at once.
//!
//! ```text
//!  bytes ─► every S-th place: 4 bytes, hashed ─► bitmap (16 KiB) ─► few: bucket ─► whole pattern
//!        └► every place: 2 bytes ─► bitmap (8 KiB) ───────────────► patterns of 2 and 3 bytes
//! ```
//!
//! A pattern of `S + 3` bytes has `S` grams of four bytes at neighbouring places, so that one of
//! them stands at an S-th place wherever the pattern stands (Wu and Manber, "A fast algorithm for
//! multi-pattern searching", 1994, skip by the same reason). Letters count in either case.

use super::fast::Fast;
use std::collections::BTreeMap;

/// Many patterns, and which rules each belongs to.
#[derive(Debug)]
pub(crate) struct Literals {
    patterns: Vec<Literal>,
    grams: Option<Grams>,
    pairs: Option<Pairs>,
    /// The longest one's length.
    len_max: usize,
}

/// A pattern in small letters, and its rules.
#[derive(Debug)]
struct Literal {
    bytes: Box<[u8]>,
    rules: Box<[u32]>,
}

impl Literals {
    /// For rules and their patterns; none if there are none.
    pub(crate) fn new(fast: &[(u32, Fast)]) -> Option<Self> {
        let mut patterns = BTreeMap::<&[u8], Vec<_>>::new();
        for (rule, one) in fast {
            let rules = patterns.entry(&one.pattern).or_default();
            rules.push(*rule);
        }
        let literals = patterns.into_iter().map(|(bytes, rules)| Literal {
            bytes: bytes.into(),
            rules: rules.into(),
        });
        let patterns: Vec<Literal> = literals.collect();
        let with = |from: usize, to: usize| {
            let numbered = (0_u32..).zip(&patterns);
            let some = numbered.filter(move |(_, one)| (from..=to).contains(&one.bytes.len()));
            some.map(|(number, one)| (number, &*one.bytes))
                .collect::<Vec<_>>()
        };
        Some(Self {
            len_max: patterns.iter().map(|one| one.bytes.len()).max()?,
            grams: Grams::new(&with(GRAM, usize::MAX)),
            pairs: Pairs::new(&with(2, GRAM - 1)),
            patterns,
        })
    }

    /// Calls `hit` with each rule whose pattern ends behind `from` in `bytes`, and where the
    /// pattern begins; maybe more than once.
    pub(crate) fn search(&self, bytes: &[u8], from: usize, hit: &mut dyn FnMut(u32, usize)) {
        let begin = from.saturating_sub(self.len_max - 1);
        let text = bytes.get(begin..).unwrap_or_default();
        let mut check = |number: u32, at: usize| {
            let Some(literal) = self.patterns.get(number as usize) else {
                return;
            };
            let end = at + literal.bytes.len();
            let stands = text
                .get(at..end)
                .is_some_and(|there| there.eq_ignore_ascii_case(&literal.bytes));
            if stands && begin + end > from {
                literal.rules.iter().for_each(|&rule| hit(rule, begin + at));
            }
        };
        if let Some(grams) = &self.grams {
            grams.search(text, &mut check);
        }
        if let Some(pairs) = &self.pairs {
            pairs.search(text, &mut check);
        }
    }
}

/// Patterns of four bytes and more.
#[derive(Debug)]
struct Grams {
    /// A place is looked at if it is a multiple of this: 1, 2 or 4.
    stride: usize,
    /// Of a product, what is no hash.
    shift: u32,
    /// A bit for each hash of a gram that some pattern has.
    seen: Box<[u64]>,
    /// Where the entries of each bucket begin.
    buckets: Box<[u32]>,
    entries: Box<[Entry]>,
}

/// A gram of a pattern.
#[derive(Clone, Copy, Debug)]
struct Entry {
    gram: u32,
    pattern: u32,
    /// Where it stands in the pattern.
    offset: u32,
}

impl Grams {
    fn new(patterns: &[(u32, &[u8])]) -> Option<Self> {
        let shortest = patterns.iter().map(|one| one.1.len()).min()?;
        let stride = match shortest {
            0..5 => 1,
            5..7 => 2,
            _ => 4,
        };
        let mut entries = Vec::new();
        for &(pattern, bytes) in patterns {
            for offset in rarest(bytes, stride) {
                let four = bytes.get(offset..).and_then(|rest| rest.first_chunk());
                entries.extend(four.map(|&four| Entry {
                    gram: fold(u32::from_le_bytes(four)),
                    pattern,
                    offset: u32::try_from(offset).unwrap_or(u32::MAX),
                }));
            }
        }
        // One gram of 32 that no pattern has is seen at most, unless there are too many.
        let bits = (entries.len().ilog2() + 6).clamp(HASH_BITS_MIN, HASH_BITS_MAX);
        let mut made = Self {
            stride,
            shift: 32 - bits,
            seen: vec![0; 1 << (bits - 6)].into(),
            buckets: Box::new([]),
            entries: Box::new([]),
        };
        entries.sort_unstable_by_key(|one| (made.bucket(one.gram), one.pattern, one.offset));
        for one in &entries {
            let hash = made.hash(one.gram);
            if let Some(word) = made.seen.get_mut(hash as usize >> 6) {
                *word |= 1 << (hash & 63);
            }
        }
        let begin = |of: usize| entries.partition_point(|one| made.bucket(one.gram) < of);
        let buckets = 0..=1 << (bits - BUCKET_SHIFT);
        let buckets = buckets.map(|of| u32::try_from(begin(of)).unwrap_or(u32::MAX));
        made.buckets = buckets.collect();
        made.entries = entries.into();
        Some(made)
    }

    fn search(&self, text: &[u8], check: &mut dyn FnMut(u32, usize)) {
        match self.stride {
            1 => self.by::<1>(text, check),
            2 => self.by::<2>(text, check),
            _ => self.by::<4>(text, check),
        }
    }

    fn by<const STRIDE: usize>(&self, text: &[u8], check: &mut dyn FnMut(u32, usize)) {
        // Eight bytes hold the grams at four places.
        let mut at = 0;
        while let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let eight = u64::from_le_bytes(*eight) | u64::from_le_bytes([CASE; 8]);
            let gram = |place: usize| (eight >> (8 * place)) as u32;
            let is_seen = match STRIDE {
                1 => {
                    self.is_seen(gram(0))
                        | self.is_seen(gram(1))
                        | self.is_seen(gram(2))
                        | self.is_seen(gram(3))
                }
                2 => self.is_seen(gram(0)) | self.is_seen(gram(2)),
                _ => self.is_seen(gram(0)),
            };
            if is_seen {
                for place in (0..4).step_by(STRIDE) {
                    self.look(gram(place), at + place, check);
                }
            }
            at += 4;
        }
        // What is left has less than eight bytes.
        while let Some(four) = text.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
            self.look(fold(u32::from_le_bytes(*four)), at, check);
            at += STRIDE;
        }
    }

    #[inline]
    fn is_seen(&self, gram: u32) -> bool {
        let hash = self.hash(gram);
        self.seen
            .get(hash as usize >> 6)
            .is_some_and(|bits| bits >> (hash & 63) & 1 != 0)
    }

    /// Knuth's multiplicative hash (The Art of Computer Programming 3, 6.4).
    #[inline]
    const fn hash(&self, gram: u32) -> u32 {
        gram.wrapping_mul(0x9e37_79b1) >> self.shift
    }

    const fn bucket(&self, gram: u32) -> usize {
        (self.hash(gram) >> BUCKET_SHIFT) as usize
    }

    /// Which patterns may have this gram at this place.
    fn look(&self, gram: u32, at: usize, check: &mut dyn FnMut(u32, usize)) {
        if !self.is_seen(gram) {
            return;
        }
        let bucket = self.bucket(gram);
        let edge = |of: usize| self.buckets.get(of).map_or(0, |&at| at as usize);
        let entries = self.entries.get(edge(bucket)..edge(bucket + 1));
        for one in entries.into_iter().flatten().filter(|one| one.gram == gram) {
            if let Some(begin) = at.checked_sub(one.offset as usize) {
                check(one.pattern, begin);
            }
        }
    }
}

/// The place in a pattern where `count` neighbouring grams begin that are the rarest in traffic.
fn rarest(pattern: &[u8], count: usize) -> core::ops::Range<usize> {
    let len = GRAM + count - 1;
    let cost = |begin: &usize| {
        let grams = pattern.windows(GRAM).skip(*begin).take(count);
        // What is read most often decides.
        grams
            .map(|gram| gram.iter().map(|&byte| frequency(byte)).product::<u32>())
            .max()
    };
    let last = pattern.len().saturating_sub(len);
    let begin = (0..=last).min_by_key(cost).unwrap_or(0);
    begin..begin + count
}

/// How common a byte is, roughly, in what is searched: text of protocols, and zeros.
const fn frequency(byte: u8) -> u32 {
    match byte.to_ascii_lowercase() {
        b' ' | b'e' | b't' | b'a' | b'o' | b'n' | b'i' | b's' | b'r' => 16,
        0 | b'\r' | b'\n' | b'/' | b'.' | b':' | b'h' | b'p' | b'l' | b'd' | b'c' | b'm' => 14,
        b'0'..=b'9' | b'u' | b'g' | b'f' | b'w' | b'y' | b'b' | b'=' | b'-' | b'"' | 0xff => 10,
        b'v' | b'k' | b'x' | b'<' | b'>' | b';' | b',' | b'&' | b'_' | b'(' | b')' => 7,
        b'!'..=b'~' => 5,
        1..=16 => 4,
        _ => 2,
    }
}

/// Patterns of two and three bytes.
#[derive(Debug)]
struct Pairs {
    /// A bit for each pair of bytes, in small letters as letters are folded.
    seen: Box<[u64; PAIR_WORDS]>,
    /// The first two bytes, and the pattern: in order.
    entries: Box<[(u16, u32)]>,
}

impl Pairs {
    fn new(patterns: &[(u32, &[u8])]) -> Option<Self> {
        let mut entries = Vec::new();
        for &(pattern, bytes) in patterns {
            let two = bytes.first_chunk();
            entries.extend(two.map(|&two| (pair(u16::from_le_bytes(two)), pattern)));
        }
        entries.sort_unstable();
        let mut seen = Box::new([0; PAIR_WORDS]);
        for (pair, _) in &entries {
            if let Some(word) = seen.get_mut(usize::from(pair >> 6)) {
                *word |= 1 << (pair & 63);
            }
        }
        (!entries.is_empty()).then(|| Self {
            seen,
            entries: entries.into(),
        })
    }

    fn search(&self, text: &[u8], check: &mut dyn FnMut(u32, usize)) {
        let mut at = 0;
        while let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let eight = u64::from_le_bytes(*eight) | u64::from_le_bytes([CASE; 8]);
            let two = |place: usize| (eight >> (8 * place)) as u16;
            let is_seen = self.is_seen(two(0))
                | self.is_seen(two(1))
                | self.is_seen(two(2))
                | self.is_seen(two(3));
            if is_seen {
                (0..4).for_each(|place| self.look(two(place), at + place, check));
            }
            at += 4;
        }
        while let Some(two) = text.get(at..).and_then(|rest| rest.first_chunk::<2>()) {
            self.look(pair(u16::from_le_bytes(*two)), at, check);
            at += 1;
        }
    }

    #[inline]
    fn is_seen(&self, pair: u16) -> bool {
        self.seen
            .get(usize::from(pair >> 6))
            .is_some_and(|bits| bits >> (pair & 63) & 1 != 0)
    }

    fn look(&self, pair: u16, at: usize, check: &mut dyn FnMut(u32, usize)) {
        if !self.is_seen(pair) {
            return;
        }
        let begin = self.entries.partition_point(|one| one.0 < pair);
        let entries = self.entries.get(begin..).unwrap_or_default();
        for &(_, pattern) in entries.iter().take_while(|one| one.0 == pair) {
            check(pattern, at);
        }
    }
}

/// Capital letters as small ones; some other bytes become equal, too, which the check finds.
const fn fold(gram: u32) -> u32 {
    gram | u32::from_le_bytes([CASE; GRAM])
}

const fn pair(two: u16) -> u16 {
    two | u16::from_le_bytes([CASE; 2])
}

/// The bit that tells small letters from capital ones.
const CASE: u8 = 0x20;
const GRAM: usize = 4;
const HASH_BITS_MIN: u32 = 8;
/// The bitmap fits into the first-level cache.
const HASH_BITS_MAX: u32 = 17;
/// So many bits of the bitmap have a bucket, as a power of two.
const BUCKET_SHIFT: u32 = 4;
const PAIR_WORDS: usize = 1 << 10;

#[cfg(test)]
mod tests {
    use super::{Fast, Literals};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Each pattern is found wherever it stands, in either case, and nothing else is.
        #[test]
        fn patterns_are_found_where_they_stand(
            patterns in proptest::collection::btree_set("[ab.]{2,12}", 1..20),
            shortest in 2_usize..9,
            text in "[abAB.]{0,80}",
            from in 0_usize..90,
        ) {
            let patterns: Vec<String> =
                patterns.into_iter().filter(|one| one.len() >= shortest).collect();
            let numbered = patterns.iter().zip(0..);
            let fast: Vec<(u32, Fast)> = numbered.map(|(one, rule)| (rule, Fast {
                inspection: 0,
                pattern: one.clone().into_bytes(),
                places: 0..=u32::MAX,
            })).collect();
            let mut found = BTreeSet::new();
            if let Some(literals) = Literals::new(&fast) {
                literals.search(text.as_bytes(), from, &mut |rule, at| {
                    found.insert((rule, at));
                });
            }
            let small = text.to_ascii_lowercase();
            let mut expected = BTreeSet::new();
            for (pattern, rule) in patterns.iter().zip(0_u32..) {
                let places = (0..small.len()).filter(|&at| {
                    small.get(at..).is_some_and(|rest| rest.starts_with(pattern.as_str()))
                        && at + pattern.len() > from
                });
                expected.extend(places.map(|at| (rule, at)));
            }
            prop_assert_eq!(found, expected);
        }
    }
}
