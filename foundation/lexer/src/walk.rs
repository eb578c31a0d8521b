//! The hot loop: from state to state until nothing longer matches.

use crate::scanner::{HotState, Scanner};
use crate::windows::Windows;
use crate::words;
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
        // No state is both: a run goes on.
        if here.is_final {
            return over(state, at);
        }
        if here.is_run {
            let end = windows.find(here.set_index, &here.stop, at);
            if here.word_len_max != 0 {
                let text = bytes.get(at..).unwrap_or_default();
                let len = end.wrapping_sub(at);
                if end == bytes.len() {
                    // The word may go on in the next segment: where it stands must be exact.
                    return suspended(unfinished_word(scanner, text, state), end);
                }
                if len != 0 {
                    state = words::find(scanner, here, text, len);
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
        let next = if byte == here.likely_byte {
            here.likely_next
        } else {
            scanner.step(state, byte)
        };
        if next == 0 {
            return over(state, at);
        }
        state = next;
        at = at.wrapping_add(1);
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
