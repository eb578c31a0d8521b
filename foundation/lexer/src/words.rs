//! Keywords that a run went over.
//!
//! Where keywords and a general name begin in one state, walking byte by byte would follow the
//! keywords' tree. Instead the run goes to the end of the name at once, and the name is looked up:
//! by its length, first and last byte, then all bytes.

use crate::Run;
use crate::table::View;

/// The state behind a word that the run went over.
#[inline(always)]
pub(crate) fn find(view: View<'_>, run: &Run, word: &[u8]) -> u16 {
    let (Some(&first), Some(&last)) = (word.first(), word.last()) else {
        return run.after;
    };
    if word.len() > usize::from(run.word_len_max) {
        return run.after;
    }
    let [len_factor, first_factor, last_factor] = run.hash;
    let hash = hash(word.len(), len_factor)
        ^ hash(usize::from(view.class(first)), first_factor)
        ^ hash(usize::from(view.class(last)), last_factor);
    let slot = usize::from(run.slots.0).wrapping_add(hash & usize::from(run.slots.1));
    let mut index = view.word_slots.get(slot).copied().unwrap_or(0);
    while index != 0 {
        let Some(candidate) = view.words.get(usize::from(index.wrapping_sub(1))) else {
            break;
        };
        let (from, len) = candidate.classes;
        if usize::from(len) == word.len() && is_same(view, from, word) {
            return candidate.state;
        }
        index = candidate.next;
    }
    run.after
}

/// One part of the hash of a word: the compiler chooses factors that spread its words.
#[inline(always)]
pub(crate) const fn hash(value: usize, factor: u8) -> usize {
    value.wrapping_mul(factor as usize)
}

#[inline(always)]
fn is_same(view: View<'_>, from: u32, word: &[u8]) -> bool {
    let classes = view.word_classes.get(from as usize..).unwrap_or_default();
    classes.len() >= word.len()
        && word
            .iter()
            .zip(classes)
            .all(|(&byte, &class)| view.class(byte) == class)
}
