//! The hot loop: from state to state until nothing longer matches.

use crate::scanner::{EndState, Match, Scanner, StateKind};
use crate::windows::{Masks, Windows};
use crate::words::HotWord;
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
    /// What matches, if it is over.
    pub(crate) end: EndState,
}

/// The token at `at`: where it ends, and what it is.
///
/// None where that takes more care: near the end of the bytes, or where something seldom comes.
// PERF: what follows a run is compared at once, and a keyword that was run over decides neither
// where the next token begins nor its state, where it need not: so the processor is several tokens
// ahead. Figures in docs/user/grammar.md.
#[inline(always)]
pub(crate) fn quick<'t, C: Classifier>(
    scanner: &'t Scanner,
    windows: &Windows<'_, C>,
    masks: &mut Masks,
    bytes: &[u8],
    at: usize,
    start: u16,
) -> Option<(usize, &'t Match)> {
    let mut at = at;
    let mut state = start;
    // The keyword that was run over.
    let mut named: Option<&HotWord> = None;
    loop {
        let here = scanner.states.get(usize::from(state))?;
        let mut leap = &here.leap;
        match here.kind {
            StateKind::Run => at = windows.find(masks, here.set, at),
            StateKind::Words | StateKind::WordsTail | StateKind::WordsAlike => {
                let end = windows.find(masks, here.set, at);
                let len = end.wrapping_sub(at);
                if len == 0 {
                    // No word: what no word begins with.
                    state = scanner.step(state, *bytes.get(at)?);
                    at = at.wrapping_add(1);
                    if state == 0 {
                        return None;
                    }
                    continue;
                }
                let set = scanner.words.get(usize::from(here.words).wrapping_sub(1))?;
                let word = set.find(bytes.get(at..)?, len);
                at = end;
                if here.kind == StateKind::WordsAlike {
                    named = word;
                } else if here.kind == StateKind::WordsTail
                    && leap.is_at(u32::from(*bytes.get(end)?))
                    && word.is_none_or(|word| word.has_tail)
                {
                    named = word;
                    state = leap.state;
                    at = at.wrapping_add(1);
                    continue;
                } else {
                    state = word.map_or(here.after, |word| word.state);
                    let next = scanner.states.get(usize::from(state))?;
                    if next.kind.has_words() {
                        continue;
                    }
                    leap = &next.leap;
                }
            }
            StateKind::Step | StateKind::Final => {}
        }
        let rest = bytes.get(at..)?;
        let next = match rest.first_chunk() {
            Some(next) => u32::from_le_bytes(*next),
            None => last_bytes(rest, leap.len)?,
        };
        if leap.is_at(next) {
            at = at.wrapping_add(usize::from(leap.len));
            if leap.found.accept != 0 {
                let found = named.map_or(&leap.found, |word| &word.found);
                return Some((at, found));
            }
            state = leap.state;
        } else {
            let [byte, ..] = next.to_le_bytes();
            if here.kind == StateKind::WordsAlike {
                return None;
            }
            if let Some(word) = named.take() {
                state = word.tail_state;
            }
            state = scanner.step(state, byte);
            if state == 0 {
                return None;
            }
            at = at.wrapping_add(1);
        }
    }
}

/// What is next where fewer than four bytes are left: the first in the lowest place, zeros behind.
/// None if there are fewer than `len`, or not any.
#[inline(always)]
fn last_bytes(rest: &[u8], len: u8) -> Option<u32> {
    if len > 2 {
        return None;
    }
    match rest.first_chunk() {
        Some(next) => Some(u32::from(u16::from_le_bytes(*next))),
        None if len < 2 => rest.first().copied().map(u32::from),
        None => None,
    }
}

/// Walks from `state` over `bytes[at..]`, byte by byte where no run begins.
#[inline(always)]
pub(crate) fn walk<C: Classifier>(
    scanner: &Scanner,
    windows: &Windows<'_, C>,
    masks: &mut Masks,
    bytes: &[u8],
    mut at: usize,
    mut state: u16,
) -> Walked {
    loop {
        let Some(mut here) = scanner.states.get(usize::from(state)) else {
            return over(scanner, 0, at);
        };
        if !matches!(here.kind, StateKind::Step | StateKind::Final) {
            let end = windows.find(masks, here.set, at);
            if here.words != 0 {
                let text = bytes.get(at..).unwrap_or_default();
                let len = end.wrapping_sub(at);
                if end == bytes.len() {
                    // The word may go on in the next segment: where it stands must be exact.
                    return suspended(unfinished_word(scanner, text, state), end);
                }
                if len != 0 {
                    let set = scanner.words.get(usize::from(here.words).wrapping_sub(1));
                    let word = set.and_then(|set| set.find(text, len));
                    state = word.map_or(here.after, |word| word.state);
                    here = match scanner.states.get(usize::from(state)) {
                        Some(here) => here,
                        None => return over(scanner, 0, end),
                    };
                }
            }
            at = end;
        }
        if here.kind == StateKind::Final {
            return over(scanner, state, at);
        }
        let Some(&byte) = bytes.get(at) else {
            return suspended(state, at);
        };
        let next = match byte == here.likely_byte {
            true => here.likely_next,
            false => scanner.step(state, byte),
        };
        if next == 0 {
            return over(scanner, state, at);
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
        end: EndState {
            found: Match {
                accept: 0,
                token: 0,
                begin: 0,
                begin_state: 0,
            },
            is_plain: false,
        },
    }
}

#[inline(always)]
fn over(scanner: &Scanner, state: u16, at: usize) -> Walked {
    Walked {
        state,
        at,
        is_over: true,
        end: scanner.end(state),
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
