//! Fuzzing: any text as a pattern, any bytes as data.

use crate::l7::parse_expression;
use crate::{Automaton, Fed, Limits, PatternSet, Rating, Rewrite, Source, own};

/// Compiles the first line both ways, within small limits, and searches the rest: however it is
/// cut, the result is the same.
#[doc(hidden)]
pub fn fuzz_pattern(data: &[u8]) {
    let end = data
        .iter()
        .position(|&byte| byte == b'\n')
        .unwrap_or(data.len());
    let (line, rest) = data.split_at(end);
    PatternSet::from_bytes(data, 0);
    let limits = Limits {
        states: 512,
        expanded_bytes: 256 << 10,
        working_bytes: 1 << 20,
        ..Limits::default()
    };
    let text: String = line.iter().map(|&byte| char::from(byte)).collect();
    for hir in [parse_expression(&text, &limits), own(&text)]
        .into_iter()
        .flatten()
    {
        for anchored in [true, false] {
            let Ok(automaton) = Automaton::build(std::slice::from_ref(&hir), anchored, &limits)
            else {
                continue;
            };
            let rating = Rating::of(&automaton);
            assert!((0.0..=1.0).contains(&rating.random) && (0.0..=1.0).contains(&rating.english));
            let mut whole = automaton.start();
            let at_once = automaton.feed(&mut whole, rest);
            let mut pieces = automaton.start();
            let mut found = Fed::More;
            for (index, byte) in rest.iter().enumerate() {
                found = match automaton.feed(&mut pieces, std::slice::from_ref(byte)) {
                    Fed::Match(pattern, len) => Fed::Match(pattern, index + len),
                    other => other,
                };
                if found != Fed::More {
                    break;
                }
            }
            if !rest.is_empty() {
                assert_eq!(found, at_once, "a cut changed the result");
            }
        }
    }
}

/// Compiles up to three lines into one set, and searches the rest: a gate changes nothing, nor do
/// cuts, and what is stored is loaded.
#[doc(hidden)]
pub fn fuzz_pattern_set(data: &[u8]) {
    let mut lines = data.splitn(4, |&byte| byte == b'\n');
    let texts: Vec<String> = lines
        .by_ref()
        .take(3)
        .map(|line| line.iter().map(|&byte| char::from(byte)).collect())
        .collect();
    let rest = lines.next().unwrap_or_default();
    let limits = Limits {
        states: 256,
        expanded_bytes: 64 << 10,
        working_bytes: 512 << 10,
        ..Limits::default()
    };
    let sources: Vec<Source> = texts
        .into_iter()
        .filter_map(|name| {
            let hir = parse_expression(&name, &limits).ok()?;
            Some(Source { name, hir })
        })
        .collect();
    let (set, refused) = PatternSet::build(&sources, Rewrite::Exact, &limits);
    assert_eq!(set.patterns.len() + refused.len(), sources.len());
    assert_eq!(
        PatternSet::from_bytes(&set.to_bytes(1), 1).as_ref(),
        Some(&set)
    );
    let awake = set.clone().without_gate();
    let (mut whole, mut other) = (set.start(), awake.start());
    let found = set.feed(&mut whole, rest);
    assert_eq!(
        found,
        awake.feed(&mut other, rest),
        "the gate changed a match"
    );
    assert_eq!(
        set.at_end(&whole),
        awake.at_end(&other),
        "the gate changed an end"
    );
    let mut pieces = set.start();
    let mut at = 0;
    let mut first = None;
    for part in rest.chunks(3) {
        if let Some(mut one) = set.feed(&mut pieces, part) {
            one.len += at;
            // Later ones are of patterns that a hint, or an earlier one, did not end.
            first = first.or(Some(one));
        }
        at += part.len();
    }
    if set.groups.iter().all(|group| !group.is_hint) {
        assert_eq!(found, first, "a cut changed a match");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// No expression and no data break anything (the fuzzer looks further).
        #[test]
        fn any_expression_is_compiled_or_refused(
            line in "[a-c.*+?|()\\[\\]^$\\\\x0-9{},-]{0,24}",
            data in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut input = line.into_bytes();
            input.push(b'\n');
            input.extend(data);
            super::fuzz_pattern(&input);
        }

        /// Likewise of several together.
        #[test]
        fn any_expressions_make_one_set(
            lines in prop::collection::vec("[a-c.*+?|()^$0-9]{0,12}", 3),
            data in prop::collection::vec(prop::sample::select(b"abc\0".as_slice()), 0..40),
        ) {
            let mut input = lines.join("\n").into_bytes();
            input.push(b'\n');
            input.extend(data);
            super::fuzz_pattern_set(&input);
        }
    }
}
