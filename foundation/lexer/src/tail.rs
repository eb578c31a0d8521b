//! What follows a keyword that was run over: the same for most of them.
//!
//! ```text
//!  Host    :    example.org   \r\n
//!  word    ▲    run           leap         whatever the word: the same run ends the line,
//!          byte                            and only the rule that matches hangs on the word
//! ```

use crate::scanner::{HotState, StateKind};
use crate::words::HotWord;
use crate::{Parts, Run};

/// A byte, and a run and a leap, that follow words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    /// What ends the word.
    pub(crate) byte: u8,
    /// Where that leads behind what is no keyword: the run begins there.
    pub(crate) state: u16,
}

impl Tail {
    /// The tail of what is no keyword, `general`, if half of the words have it, too; those that
    /// have are marked.
    pub(crate) fn find(
        parts: &Parts,
        run: &Run,
        states: &[HotState],
        general: HotWord,
        words: &mut [HotWord],
    ) -> Option<Self> {
        let stop = parts.sets.get(usize::from(run.stop))?;
        let behind = |word: &HotWord, byte: u8| {
            let class = usize::from(*parts.classes.get(usize::from(byte))?);
            let row = usize::from(word.state).checked_shl(u32::from(parts.class_bits))?;
            let next = parts.transitions.get(row.checked_add(class)?)?;
            Some((*next, states.get(usize::from(*next))?))
        };
        let is_run = |state: &HotState| {
            state.kind == StateKind::Run && state.words == 0 && state.leap.found.accept != 0
        };
        let has = |word: &HotWord, byte: u8| {
            let (_, usual) = behind(&general, byte)?;
            let (number, own) = behind(word, byte)?;
            let is_like = is_run(usual)
                && is_run(own)
                && own.set_index == usual.set_index
                && own.stop == usual.stop
                && own.leap.is_like(&usual.leap);
            is_like.then_some((number, own.leap.found))
        };
        let count = |byte: u8| {
            words
                .iter()
                .filter(|word| has(word, byte).is_some())
                .count()
        };
        let bytes = (0..=255u8).filter(|&byte| stop.contains(byte));
        // Of equally good ones the first byte.
        let (count, byte) = bytes
            .map(|byte| (count(byte), core::cmp::Reverse(byte)))
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
                word.found = (found.accept, found.token);
            }
        }
        Some(Self { byte, state })
    }
}
