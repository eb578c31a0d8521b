//! What follows a keyword that was run over: the same for most of them.
//!
//! ```text
//!  Host    :    example.org   \r\n
//!  word    ▲    run           leap         whatever the word: the same run ends the line,
//!          byte                            and only the rule that matches hangs on the word
//! ```

use crate::leap::Leap;
use crate::scanner::{HotState, StateKind};
use crate::words::HotWord;
use crate::{Parts, Run};

/// What is behind what is no keyword, `general`, if that is a byte and a run whose end is all but
/// sure, and half of the words have the like: a leap to the run. Those that have are marked.
pub(crate) fn find_tail(
    parts: &Parts,
    run: &Run,
    states: &[HotState],
    general: HotWord,
    words: &mut [HotWord],
) -> Option<Leap> {
    let stop = parts.sets.get(usize::from(run.stop))?;
    let behind = |word: &HotWord, byte: u8| {
        let class = usize::from(*parts.classes.get(usize::from(byte))?);
        let row = usize::from(word.state).checked_shl(u32::from(parts.class_bits))?;
        let next = parts.transitions.get(row.checked_add(class)?)?;
        Some((*next, states.get(usize::from(*next))?))
    };
    let has = |word: &HotWord, byte: u8| {
        let (_, usual) = behind(&general, byte)?;
        let (number, own) = behind(word, byte)?;
        let is_run =
            |state: &HotState| state.kind == StateKind::Run && state.leap.found.accept != 0;
        let is_like =
            is_run(usual) && is_run(own) && own.set == usual.set && own.leap.is_like(&usual.leap);
        is_like.then_some((number, own.leap.found))
    };
    let count = |byte: u8| {
        let words = words.iter();
        words.filter(|word| has(word, byte).is_some()).count()
    };
    let usual = states.get(usize::from(general.state))?.likely_byte;
    let bytes = (0..=255u8).filter(|&byte| stop.contains(byte));
    // Of equally good ones the likely byte, or the first.
    let (count, _, byte) = bytes
        .map(|byte| (count(byte), byte == usual, core::cmp::Reverse(byte)))
        .max()?;
    let byte = byte.0;
    if count == 0 || count.saturating_mul(2) < words.len() {
        return None;
    }
    let (state, _) = behind(&general, byte)?;
    let tails: Vec<_> = words.iter().map(|word| has(word, byte)).collect();
    for (word, tail) in words.iter_mut().zip(tails) {
        if let Some((state, found)) = tail {
            word.has_tail = true;
            word.tail_state = state;
            word.found = found;
        }
    }
    Some(Leap::over(byte, state))
}
