//! Fuzzing: any text as a pattern, any bytes as data.

use crate::l7::parse_expression;
use crate::{Automaton, Fed, Limits, PatternSet, Rating, own};

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
    }
}
