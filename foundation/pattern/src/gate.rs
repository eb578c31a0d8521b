//! What patterns that may begin anywhere begin with: one small automaton over all their first
//! letters, so that their own ones, which are many, sleep until some could match.

use crate::{Automaton, Limits};
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

/// The automaton that matches where any of these patterns may have begun.
pub(crate) fn gate(beginnings: Vec<Beginnings>, limits: &Limits) -> Option<Automaton> {
    let all: Vec<Hir> = beginnings.into_iter().flatten().map(Hir::literal).collect();
    if all.is_empty() {
        return None;
    }
    Automaton::build(&[Hir::alternation(all)], false, limits).ok()
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
