//! The hot loop: from state to state until nothing longer matches.

use crate::table::View;
use crate::words;
use flowpin_cpu::Finder;

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
pub(crate) fn walk<F: Finder>(
    view: View<'_>,
    finder: F,
    bytes: &[u8],
    mut at: usize,
    mut state: u16,
) -> Walked {
    let mut here = view.state(state);
    loop {
        if here.run != 0
            && let Some((run, stop)) = view.run(here.run)
        {
            let end = finder.find(stop, bytes, at);
            if run.word_len_max != 0 {
                let word = bytes.get(at..end).unwrap_or_default();
                if end == bytes.len() {
                    // The word may go on in the next segment: where it stands must be exact.
                    state = unfinished_word(view, word, state);
                    return suspended(state, end);
                }
                if end != at {
                    state = words::find(view, run, word);
                    here = view.state(state);
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
            view.step(state, byte)
        };
        if next == 0 {
            return over(state, at);
        }
        state = next;
        at = at.wrapping_add(1);
        here = view.state(state);
        if here.is_final {
            return over(state, at);
        }
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
fn unfinished_word(view: View<'_>, word: &[u8], state: u16) -> u16 {
    let mut state = state;
    for &byte in word {
        let next = view.step(state, byte);
        // The state that all long words end in stays where it is.
        if next == state {
            return state;
        }
        state = next;
    }
    state
}
