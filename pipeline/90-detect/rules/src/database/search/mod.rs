//! Searching a buffer for all fast patterns of its rules at once.
//!
//! ```text
//!  bytes, folded ─► every 4th place: 4 bytes, hashed ─► bitmap ─► few: bucket ─► whole pattern
//!                ├► short patterns, or all if they are few: vectors ─► two bytes ─┘
//!                └► in a short text: every place: 4 bytes, 2 bytes ─► bitmaps ────┘
//! ```
//!
//! A pattern of `S + 3` bytes has `S` grams of four bytes at neighbouring places, so that one of
//! them stands at an S-th place wherever the pattern stands (Wu and Manber, "A fast algorithm for
//! multi-pattern searching", 1994, skip by the same reason). A pattern of less than seven bytes
//! would cost a look at all places, so these have a search of their own (Teddy, of the Hyperscan
//! paper by Wang et al., NSDI 2019, as aho-corasick has it). Letters count in either case: the text
//! is *folded* first, capital letters to small ones.

mod grams;
mod pairs;
mod vectors;

pub(super) use grams::{GRAM, Rarity};

use super::far::Place;
use super::fast::Fast;
use super::ports::Wanted;
use grams::Grams;
use pairs::Pairs;
use std::collections::BTreeMap;
use std::sync::Arc;
use vectors::Vectors;

/// Many patterns, and which rules each belongs to.
#[derive(Debug)]
pub(crate) struct Literals {
    patterns: Vec<Literal>,
    /// Patterns of seven bytes and more.
    long: Option<Grams>,
    /// Of four to six.
    short: Option<Grams>,
    /// Of two and three.
    pairs: Option<Pairs>,
    /// In place of `short` and `pairs` in long texts, and if patterns are few, of `long`, too.
    vectors: Option<Vectors>,
    vectors_have_long: bool,
    /// The longest one's length.
    len_max: usize,
    wanted: Arc<Wanted>,
}

/// A pattern in small letters, and its rules with the ports that they need.
#[derive(Debug)]
struct Literal {
    bytes: Box<[u8]>,
    rules: Box<[(u32, u16)]>,
}

impl Literals {
    /// For rules and their patterns; none if there are none.
    pub(crate) fn new(fast: &[(u32, Fast)], wanted: &Arc<Wanted>, by_ports: bool) -> Option<Self> {
        let mut patterns = BTreeMap::<&[u8], Vec<_>>::new();
        for (rule, one) in fast {
            let pattern = one.pattern.get(..PATTERN_MAX).unwrap_or(&one.pattern);
            let rules = patterns.entry(pattern).or_default();
            rules.push((*rule, if by_ports { wanted.of(*rule) } else { 0 }));
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
        let (tiny, more) = (with(2, GRAM - 1), with(GRAM, usize::MAX));
        let of_all = Vectors::new(&tiny, &more, 1);
        let vectors_have_long = of_all.is_some();
        Some(Self {
            vectors: of_all
                .or_else(|| Vectors::new(&tiny, &with(GRAM, LONG - 1), SHORT_SEARCHES_MAX)),
            vectors_have_long,
            len_max: patterns.iter().map(|one| one.bytes.len()).max()?,
            long: Grams::new(&with(LONG, usize::MAX)),
            short: Grams::new(&with(GRAM, LONG - 1)),
            pairs: Pairs::new(&tiny),
            patterns,
            wanted: Arc::clone(wanted),
        })
    }

    /// Calls `hit` with each rule that may fit there and whose pattern ends behind `from` in the
    /// [folded](fold_into) text, and where the pattern begins; maybe more than once.
    pub(crate) fn search(
        &self,
        folded: &[u8],
        place: Place,
        from: usize,
        hit: &mut dyn FnMut(u32, usize),
    ) {
        let begin = from.saturating_sub(self.len_max - 1);
        let folded = folded.get(begin..).unwrap_or_default();
        let mut check = |number: u32, at: usize| {
            let Some(literal) = self.patterns.get(number as usize) else {
                return;
            };
            let end = at + literal.bytes.len();
            let stands = folded.get(at..end) == Some(&literal.bytes);
            if stands && begin + end > from {
                let rules = literal.rules.iter();
                let fitting = rules.filter(|(_, ports)| self.wanted.are_those(*ports, place));
                fitting.for_each(|&(rule, _)| hit(rule, begin + at));
            }
        };
        let vectors = self.vectors.as_ref();
        let vectors = vectors.filter(|_| folded.len() >= VECTORS_MIN);
        let is_long_done = vectors.is_some() && self.vectors_have_long;
        if let Some(long) = self.long.as_ref().filter(|_| !is_long_done) {
            long.search(folded, &mut check);
        }
        if let Some(vectors) = vectors {
            return vectors.search(folded, &mut check);
        }
        if let Some(short) = &self.short {
            short.search(folded, &mut check);
        }
        if let Some(pairs) = &self.pairs {
            pairs.search(folded, &mut check);
        }
    }
}

/// Folds a text.
pub(crate) fn fold_into(bytes: &[u8], folded: &mut Vec<u8>) {
    folded.clear();
    // PERF: a bit set in every byte would be cheaper, but zeros would look like blanks, and both
    // come in long runs.
    fold_more(bytes, folded);
}

/// Appends the folded bytes of a text.
pub(crate) fn fold_more(bytes: &[u8], folded: &mut Vec<u8>) {
    folded.extend(bytes.iter().map(u8::to_ascii_lowercase));
}

/// From here on a pattern has four grams.
pub(super) const LONG: usize = 7;
/// So many bytes of a pattern are searched for: all are compared when its rule is evaluated.
pub(crate) const PATTERN_MAX: usize = 64;
/// So many searches by vectors are faster than one by hashes at every place.
const SHORT_SEARCHES_MAX: usize = 4;
/// In shorter texts vectors gain nothing.
const VECTORS_MIN: usize = 64;

#[cfg(test)]
mod tests {
    use super::{Fast, Literals, Place, fold_into};
    use proptest::prelude::*;
    use proptest::test_runner::TestCaseError;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    proptest! {
        /// Each pattern is found wherever it stands, in either case, and nothing else is.
        #[test]
        fn patterns_are_found_where_they_stand(
            patterns in proptest::collection::btree_set("[ab.]{2,12}", 1..20),
            shortest in 2_usize..9,
            text in "[abAB.]{0,240}",
            from in 0_usize..250,
        ) {
            let kept = patterns.into_iter().filter(|one| one.len() >= shortest);
            found_as_expected(&kept.collect::<Vec<_>>(), &text, from)?;
        }

        /// So many that they are not searched for by vectors, in texts longer than a vector.
        #[test]
        fn many_patterns_are_found_where_they_stand(
            patterns in proptest::collection::btree_set("[abc.]{2,12}", 300..400),
            text in "[abcABC.]{100,600}",
            from in 0_usize..600,
        ) {
            found_as_expected(&patterns.into_iter().collect::<Vec<_>>(), &text, from)?;
        }
    }

    fn found_as_expected(
        patterns: &[String],
        text: &str,
        from: usize,
    ) -> Result<(), TestCaseError> {
        let numbered = patterns.iter().zip(0..);
        let fast: Vec<(u32, Fast)> = numbered
            .map(|(one, rule)| {
                let fast = Fast {
                    inspection: 0,
                    pattern: one.clone().into_bytes(),
                    places: 0..=u32::MAX,
                };
                (rule, fast)
            })
            .collect();
        let mut found = BTreeSet::new();
        let mut folded = Vec::new();
        fold_into(text.as_bytes(), &mut folded);
        if let Some(literals) = Literals::new(&fast, &Arc::default(), true) {
            let place = Place { ports: (1, 2) };
            literals.search(&folded, place, from, &mut |rule, at| {
                found.insert((rule, at));
            });
        }
        let small = text.to_ascii_lowercase();
        let mut expected = BTreeSet::new();
        for (pattern, rule) in patterns.iter().zip(0_u32..) {
            let places = (0..small.len()).filter(|&at| {
                small
                    .get(at..)
                    .is_some_and(|rest| rest.starts_with(pattern.as_str()))
                    && at + pattern.len() > from
            });
            expected.extend(places.map(|at| (rule, at)));
        }
        prop_assert_eq!(found, expected);
        Ok(())
    }
}
