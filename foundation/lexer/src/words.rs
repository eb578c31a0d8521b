//! Keywords that a run went over.
//!
//! Where keywords and a general name begin in one state, walking byte by byte would follow the
//! keywords' tree. Instead the run goes to the end of the name at once, and the name is looked up:
//! by its length, first and last byte, then by all bytes, eight at a time.

use crate::scanner::{HotState, Scanner};
use crate::{Parts, Word};

/// A keyword, ready to be compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HotWord {
    word: Word,
    blocks: [Block; BLOCKS],
    /// Each of its bytes is one byte, or a letter in either case; and it is short.
    is_plain: bool,
}

/// Eight bytes of a word: what matters of them, the bit of letters in either case, the value.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    kept: u64,
    folded: u64,
    value: u64,
}

const BLOCKS: usize = 3;

impl HotWord {
    pub(crate) fn new(parts: &Parts, word: &Word) -> Self {
        let mut hot = Self {
            word: *word,
            ..Self::default()
        };
        let (from, len) = word.classes;
        let classes = parts.word_classes.get(from as usize..).unwrap_or_default();
        let classes = classes.get(..usize::from(len)).unwrap_or_default();
        if classes.len() > BLOCKS.saturating_mul(8) {
            return hot;
        }
        for (block, classes) in hot.blocks.iter_mut().zip(classes.chunks(8)) {
            for (class, shift) in classes.iter().zip((0u32..64).step_by(8)) {
                let Some((byte, folded)) = member(parts, *class) else {
                    return hot;
                };
                let at = |byte: u8| u64::from(byte).wrapping_shl(shift);
                block.kept |= at(0xff);
                block.folded |= at(folded);
                block.value |= at(byte | folded);
            }
        }
        hot.is_plain = true;
        hot
    }

    /// Whether `text` begins with it; `len` is its length.
    #[inline(always)]
    fn is_at(&self, scanner: &Scanner, text: &[u8], len: usize) -> bool {
        if !self.is_plain || text.len() < BLOCKS.wrapping_mul(8) {
            return self.is_at_slowly(scanner, text, len);
        }
        let mut rest = text;
        for block in &self.blocks {
            let Some((bytes, behind)) = rest.split_first_chunk::<8>() else {
                return false;
            };
            let bytes = u64::from_le_bytes(*bytes);
            if (bytes | block.folded) & block.kept != block.value {
                return false;
            }
            rest = behind;
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn is_at_slowly(&self, scanner: &Scanner, text: &[u8], len: usize) -> bool {
        let from = self.word.classes.0 as usize;
        let classes = scanner
            .table
            .parts
            .word_classes
            .get(from..)
            .unwrap_or_default();
        let bytes = text.get(..len).unwrap_or_default();
        classes.len() >= len
            && bytes
                .iter()
                .zip(classes)
                .all(|(&byte, &class)| scanner.class(byte) == class)
    }
}

/// A class's byte, and the bit in which it may differ; none if it has other members.
fn member(parts: &Parts, class: u8) -> Option<(u8, u8)> {
    let mut members = (0..=255u8).zip(parts.classes.iter());
    let mut next = || members.find(|&(_, &of)| of == class).map(|(byte, _)| byte);
    let first = next()?;
    match (next(), next()) {
        (None, _) => Some((first, 0)),
        (Some(second), None) if first ^ second == 0x20 => Some((first, 0x20)),
        _ => None,
    }
}

/// The state behind a word of `len` bytes, with which `text` begins, that the run went over.
#[inline(always)]
pub(crate) fn find(scanner: &Scanner, here: &HotState, text: &[u8], len: usize) -> u16 {
    if len > usize::from(here.word_len_max) {
        return here.after;
    }
    let (Some(&first), Some(&last)) = (text.first(), text.get(len.wrapping_sub(1))) else {
        return here.after;
    };
    let [len_factor, first_factor, last_factor] = here.hash;
    let hash = hash(len, len_factor)
        ^ hash(usize::from(scanner.class(first)), first_factor)
        ^ hash(usize::from(scanner.class(last)), last_factor);
    let slot = usize::from(here.slots.0).wrapping_add(hash & usize::from(here.slots.1));
    let mut index = scanner.slots.get(slot).copied().unwrap_or(0);
    while index != 0 {
        let Some(candidate) = scanner.words.get(usize::from(index.wrapping_sub(1))) else {
            break;
        };
        if usize::from(candidate.word.classes.1) == len && candidate.is_at(scanner, text, len) {
            return candidate.word.state;
        }
        index = candidate.word.next;
    }
    here.after
}

/// One part of the hash of a word: the compiler chooses factors that spread its words.
#[inline(always)]
const fn hash(value: usize, factor: u8) -> usize {
    value.wrapping_mul(factor as usize)
}
