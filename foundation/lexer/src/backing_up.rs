//! Looking at a token's bytes again: where its longest match ended, where its head ends.

use crate::{Scanner, Trail};

/// The longest match at the beginning of `text`: its length, and its rule. If there is none: the
/// first byte, and no rule.
pub(crate) fn longest(scanner: &Scanner, text: &[u8], start: u16) -> (usize, Option<u16>) {
    let mut best = (1, None);
    let mut state = start;
    for (at, &byte) in text.iter().enumerate() {
        state = scanner.step(state, byte);
        if state == 0 {
            break;
        }
        if let Some(rule) = scanner.accept(state).checked_sub(1) {
            best = (at.wrapping_add(1), Some(rule));
        }
    }
    best
}

/// How much of a match is the token's own: all but the trailing context. 0 if that is nothing.
pub(crate) fn head_len(
    scanner: &Scanner,
    text: &[u8],
    rule: u16,
    trail: Trail,
    start: u16,
) -> usize {
    let len = text.len();
    let as_len = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
    match trail {
        Trail::None => len,
        Trail::Tail(count) => len.saturating_sub(as_len(count)),
        Trail::Head(count) => len.min(as_len(count)),
        Trail::Variable => {
            let heads = &scanner.table().parts().heads;
            let mut state = start;
            let mut best = 0;
            for (at, &byte) in text.iter().enumerate() {
                state = scanner.step(state, byte);
                if heads.binary_search(&(state, rule)).is_ok() {
                    best = at.wrapping_add(1);
                }
            }
            best
        }
    }
}
