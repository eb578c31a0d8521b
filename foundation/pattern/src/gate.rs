//! What patterns that may begin anywhere begin with: one pass over all their first letters, so that
//! their automata, which are many, sleep until some could match.
//!
//! ```text
//!  buckets   0 1 2 3 4 5 6 7    bit = 0: the last letters may be the first of a pattern in it
//!  word      │ 1 letter │ 2 letters │ 3 letters │ 4 letters: the gate opens │
//! ```
//!
//! A letter costs a shift and an or (R. Baeza-Yates and G. Gonnet, A new approach to text
//! searching, CACM 35(10), 1992), whatever the number of patterns. Buckets mix their patterns, so
//! the gate opens too often rather than too seldom.

use regex_syntax::hir::literal::{ExtractKind, Extractor};
use regex_syntax::hir::{Hir, Look};

/// Letters that are looked at: so many, before the one that opens the gate, are shown again.
pub(crate) const LETTERS: usize = 4;

/// What one pattern begins with: any of these.
pub(crate) type Beginnings = Vec<Vec<u8>>;

/// How often, in random bytes, a pattern may seem to begin: oftener, and it is better awake.
const CHANCE_MAX: f64 = 1e-4;

/// What a pattern that may begin anywhere begins with; none if that is too loose to wait for, or
/// if it matters where the bytes begin (those before are not shown again).
pub(crate) fn beginnings(hir: &Hir) -> Option<Beginnings> {
    if hir.properties().look_set().contains(Look::Start) {
        return None;
    }
    let mut extractor = Extractor::new();
    extractor
        .kind(ExtractKind::Prefix)
        .limit_class(16)
        .limit_repeat(LETTERS)
        .limit_literal_len(LETTERS)
        .limit_total(256);
    let mut beginnings = Beginnings::new();
    let mut chance = 0.0;
    for literal in extractor.extract(hir).literals()? {
        // Zero bytes are left out of what is searched: it begins with something else.
        if literal.as_bytes().contains(&0) {
            continue;
        }
        let len = i32::try_from(literal.len()).unwrap_or(0);
        chance += 256f64.powi(-len);
        beginnings.push(literal.as_bytes().to_vec());
    }
    (chance <= CHANCE_MAX).then_some(beginnings)
}

/// Tells where any of some patterns may have begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// By letter: the buckets that it does not fit, at each of four places.
    pub(crate) barred: Box<[u32; 256]>,
    /// The state before the first letter.
    pub(crate) start: u32,
}

const BUCKETS: usize = 8;
/// Buckets of patterns that begin with fewer letters: these are apart, as they fit more often.
const SHORT_BUCKETS: usize = 3;
/// With less than this, some bucket has all its letters.
const OPEN: u32 = 0xff00_0000;

/// The gate of these patterns; none if there are none.
pub(crate) fn gate(beginnings: &[Beginnings]) -> Option<Gate> {
    let is_short = |one: &&Beginnings| one.iter().any(|letters| letters.len() < LETTERS);
    let (short, long): (Vec<_>, Vec<_>) = beginnings.iter().partition(is_short);
    let (few, many) = match (short.is_empty(), long.is_empty()) {
        (true, true) => return None,
        (true, false) => (0, BUCKETS),
        (false, true) => (BUCKETS, 0),
        (false, false) => (SHORT_BUCKETS, BUCKETS - SHORT_BUCKETS),
    };
    let mut gate = Gate {
        barred: Box::new([u32::MAX; 256]),
        start: u32::MAX,
    };
    for (one, bucket) in short.into_iter().zip((0..few).cycle()) {
        one.iter().for_each(|letters| gate.admit(letters, bucket));
    }
    for (one, bucket) in long.into_iter().zip((few..few + many).cycle()) {
        one.iter().for_each(|letters| gate.admit(letters, bucket));
    }
    Some(gate)
}

impl Gate {
    /// Shorter beginnings end where longer ones do: any letters may stand before them, or none.
    fn admit(&mut self, letters: &[u8], bucket: usize) {
        let lead = LETTERS.saturating_sub(letters.len());
        let bit = |place: usize| 1u32 << (place * BUCKETS + bucket);
        for place in 0..lead {
            self.barred.iter_mut().for_each(|word| *word &= !bit(place));
            self.start &= !bit(place);
        }
        for (place, &letter) in (lead..LETTERS).zip(letters) {
            if let Some(word) = self.barred.get_mut(usize::from(letter)) {
                *word &= !bit(place);
            }
        }
    }

    /// How many bytes are needed until it opens, if it does.
    #[inline]
    pub(crate) fn feed(&self, state: &mut u32, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        for eight in bytes.chunks(8) {
            let mut now = *state;
            let mut all = u32::MAX;
            // PERF: as a rule nothing opens: known once for eight. Zeros, which are left out, take
            // no branch: in binary protocols nobody foresees them.
            let whole: Option<&[u8; 8]> = eight.first_chunk();
            if let Some(whole) = whole {
                if has_zero(*whole) {
                    for &byte in whole {
                        let is_zero = u32::from(byte == 0).wrapping_neg();
                        now = (now & is_zero) | (self.step(now, byte) & !is_zero);
                        all &= now;
                    }
                } else {
                    for &byte in whole {
                        now = self.step(now, byte);
                        all &= now;
                    }
                }
                if all >= OPEN {
                    *state = now;
                    at += 8;
                    continue;
                }
                now = *state;
            }
            for &byte in eight {
                at += 1;
                if byte != 0 {
                    now = self.step(now, byte);
                    if now < OPEN {
                        *state = now;
                        return Some(at);
                    }
                }
            }
            *state = now;
        }
        None
    }

    #[inline]
    fn step(&self, state: u32, byte: u8) -> u32 {
        state << 8 | self.barred.get(usize::from(byte)).copied().unwrap_or(0)
    }
}

/// Whether any of eight bytes is zero.
#[inline]
const fn has_zero(bytes: [u8; 8]) -> bool {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_le_bytes(bytes);
    word.wrapping_sub(LOW) & !word & (LOW << 7) != 0
}

#[cfg(test)]
mod tests {
    use super::beginnings;
    use crate::own;

    #[test]
    fn only_what_is_rare_is_waited_for() {
        let of = |text: &str| beginnings(&own(text).unwrap());
        assert_eq!(of("abcdef.*x"), Some(vec![b"abcd".to_vec()]));
        assert_eq!(
            of("(abcd|xyz).+"),
            Some(vec![b"abcd".to_vec(), b"xyz".to_vec()])
        );
        assert_eq!(of("(?i)ab1").unwrap().len(), 4);
        for loose in ["a.*bcd", "[a-z]bcd", ".?", "(^|x)abcd"] {
            assert_eq!(of(loose), None, "{loose}");
        }
    }
}
