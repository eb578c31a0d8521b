//! The hot loop: from state to state until nothing longer matches.

use crate::scanner::{HotState, Scanner, StateKind};
use crate::windows::Windows;
use flowpin_cpu::Classifier;

/// Where a walk ended.
#[derive(Clone, Copy)]
pub(crate) struct Walked {
    /// The last state.
    pub(crate) state: u16,
    /// The first byte that does not belong to the match.
    pub(crate) at: usize,
    /// Nothing longer matches; otherwise the bytes ended.
    pub(crate) is_over: bool,
}

/// Walks from `state` over `bytes[at..]`.
// PERF: a guessed successor takes the byte out of the chain of loads from state to state, so that
// the processor is several states ahead of the bytes; figures in docs/user/grammar.md.
#[inline(always)]
pub(crate) fn walk<C: Classifier>(
    scanner: &Scanner,
    states: &[HotState],
    windows: &mut Windows<'_, C>,
    bytes: &[u8],
    mut at: usize,
    mut state: u16,
) -> Walked {
    loop {
        let Some(mut here) = states.get(usize::from(state)) else {
            return over(0, at);
        };
        if here.kind != StateKind::Step {
            if here.kind == StateKind::Final {
                return over(state, at);
            }
            let end = windows.find(here.set_index, &here.stop, at);
            if here.word_len_max != 0 {
                let text = bytes.get(at..).unwrap_or_default();
                let len = end.wrapping_sub(at);
                if end == bytes.len() {
                    // The word may go on in the next segment: where it stands must be exact.
                    return suspended(unfinished_word(scanner, text, state), end);
                }
                if len != 0 {
                    state = word_state(scanner, here, text, len);
                    here = match states.get(usize::from(state)) {
                        Some(here) => here,
                        None => return over(0, end),
                    };
                }
            }
            at = end;
        }
        let Some(&byte) = bytes.get(at) else {
            return suspended(state, at);
        };
        if byte == here.likely_byte {
            state = here.likely_next;
        } else {
            let next = scanner.step(state, byte);
            if next == 0 {
                return over(state, at);
            }
            state = next;
        }
        at = at.wrapping_add(1);
    }
}

/// The state behind a word that a run went over.
#[inline(always)]
fn word_state(scanner: &Scanner, here: &HotState, text: &[u8], len: usize) -> u16 {
    if len > usize::from(here.word_len_max) {
        return here.after;
    }
    let words = scanner.words.get(usize::from(here.run));
    let found = words.and_then(|words| words.find(scanner, text, len));
    match found {
        Some(state) => state,
        None => here.after,
    }
}

#[inline(always)]
const fn suspended(state: u16, at: usize) -> Walked {
    Walked {
        state,
        at,
        is_over: false,
    }
}

#[inline(always)]
const fn over(state: u16, at: usize) -> Walked {
    Walked {
        state,
        at,
        is_over: true,
    }
}

/// The state behind a word, byte by byte.
#[cold]
#[inline(never)]
fn unfinished_word(scanner: &Scanner, word: &[u8], state: u16) -> u16 {
    let mut state = state;
    for &byte in word {
        let next = scanner.step(state, byte);
        // The state that all long words end in stays where it is.
        if next == state {
            return state;
        }
        state = next;
    }
    state
}
