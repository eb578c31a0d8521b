//! What most often follows a state: a few bytes, and where they lead.
//!
//! Lines end in two bytes, names in one: looked at together, they take one comparison instead of a
//! state each, and what matches behind them is known at once.

use crate::scanner::{EndState, HotState, Match, StateKind, stop};
use crate::{Parts, Run};

/// Up to four bytes that are likely to come, and what is behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Leap {
    /// The bytes, the first in the lowest place.
    tail: u32,
    /// All bits of those bytes. Without any, `tail` is something else than 0.
    mask: u32,
    /// How many they are.
    pub(crate) len: u8,
    /// The state behind them.
    pub(crate) state: u16,
    /// What matches there if nothing longer can; no rule otherwise.
    pub(crate) found: Match,
}

impl Default for Leap {
    /// One that is nowhere.
    fn default() -> Self {
        Self {
            tail: 1,
            mask: 0,
            len: 0,
            state: 0,
            found: Match::default(),
        }
    }
}

impl Leap {
    /// Over a byte, in the middle of a token.
    pub(crate) fn over(byte: u8, state: u16) -> Self {
        Self {
            tail: u32::from(byte),
            mask: u32::from(u8::MAX),
            len: 1,
            state,
            found: Match::default(),
        }
    }

    /// Whether four bytes, the first in the lowest place, begin with it.
    #[inline(always)]
    pub(crate) const fn is_at(&self, next: u32) -> bool {
        next & self.mask == self.tail
    }

    /// Whether both lead to the same, but for the rule and its token.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let next = |leap: &Self| (leap.found.begin, leap.found.begin_state);
        let both_match = self.found.accept != 0 && other.found.accept != 0;
        both_match && (self.tail, self.len, next(self)) == (other.tail, other.len, next(other))
    }
}

/// Finds what most often follows each state.
pub(crate) fn find_leaps(parts: &Parts, states: &mut [HotState], ends: &[EndState]) {
    for index in 0..states.len() {
        if let (Some(leap), Some(state)) = (leap(parts, states, ends, index), states.get_mut(index))
        {
            state.leap = leap;
        }
    }
    for index in 0..states.len() {
        let Some(state) = states.get(index) else {
            continue;
        };
        let run = usize::from(state.words).checked_sub(1);
        let Some(run) = run.and_then(|run| parts.runs.get(run)) else {
            continue;
        };
        let common = common(parts, states, run);
        if let Some(state) = states.get_mut(index) {
            if common.is_some() && state.kind == StateKind::Words {
                state.kind = StateKind::WordsAlike;
            }
            state.leap = common.unwrap_or_default();
        }
    }
}

/// What follows a run over words, if that is the same for all of them.
fn common(parts: &Parts, states: &[HotState], run: &Run) -> Option<Leap> {
    let leap = |state: u16| {
        let state = states.get(usize::from(state))?;
        // Where words are run over, the leap is what comes behind them.
        (!state.kind.has_words()).then_some(state.leap)
    };
    let after = leap(run.after)?;
    let words = parts.words.get(usize::from(run.words.0)..)?;
    let words = words.get(..usize::from(run.words.1))?;
    words
        .iter()
        .all(|word| leap(word.state).is_some_and(|leap| leap.is_like(&after)))
        .then_some(after)
}

/// Follows likely bytes from a state, until nothing longer matches, a run begins, or they cannot
/// be guessed.
fn leap(parts: &Parts, states: &[HotState], ends: &[EndState], from: usize) -> Option<Leap> {
    let mut bytes = [0; 4];
    let mut len = 0u8;
    let mut state = states.get(from)?;
    let stop = parts.states.get(from).and_then(|state| stop(parts, state));
    if stop.is_some_and(|stop| !stop.contains(state.likely_byte)) {
        return None;
    }
    let mut number = u16::try_from(from).ok()?;
    for place in &mut bytes {
        let is_inside = len == 0 || state.kind == StateKind::Step;
        if !is_inside || state.kind == StateKind::Final || !is_sure(parts, number, state, len) {
            break;
        }
        *place = state.likely_byte;
        len = len.saturating_add(1);
        number = state.likely_next;
        state = states.get(usize::from(number))?;
    }
    if len == 0 {
        return None;
    }
    let end = ends.get(usize::from(number))?;
    Some(Leap {
        tail: u32::from_le_bytes(bytes),
        len,
        mask: u32::MAX.wrapping_shr(32u32.saturating_sub(u32::from(len).wrapping_mul(8))),
        state: number,
        found: match state.kind {
            StateKind::Final if end.is_plain => end.found,
            _ => Match::default(),
        },
    })
}

/// Whether the likely byte of a state is all but sure: hardly any other leads where it does, or it
/// is the digit of a version in the middle of a word.
fn is_sure(parts: &Parts, from: u16, state: &HotState, len: u8) -> bool {
    let row = usize::from(from).checked_shl(u32::from(parts.class_bits));
    let next = |class: u8| {
        let at = row.and_then(|row| row.checked_add(usize::from(class)));
        at.and_then(|at| parts.transitions.get(at)).copied()
    };
    let classes = parts.classes.iter();
    let alike = classes
        .filter(|&&class| next(class) == Some(state.likely_next))
        .count();
    alike <= 2 || len == 1
}
