//! Keywords that a run went over.
//!
//! Where keywords and a general name begin in one state, walking byte by byte would follow the
//! keywords' tree. Instead the run goes to the end of the name at once, and the name is looked up:
//! by its length and first byte, then by all bytes, eight at a time.

use crate::scanner::HotState;
use crate::{Parts, Run, Word};

/// A keyword, ready to be compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HotWord {
    blocks: [Block; BLOCKS],
    len: u8,
    /// Its first byte, in lower case if that matters.
    first: u8,
    /// Where it leads.
    pub(crate) state: u16,
    /// The rule that most often matches there, plus 1, and its token.
    pub(crate) accept: u16,
    pub(crate) token: u16,
    /// The next word of the same slot, plus 1; 0 if there is none.
    next: u16,
}

/// Eight bytes of a word: what matters of them, the bit of letters in either case, the value.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    kept: u64,
    folded: u64,
    value: u64,
}

/// A word has up to [`crate::WORD_LEN_MAX`] bytes.
const BLOCKS: usize = crate::WORD_LEN_MAX / 8;

/// A run's keywords.
#[derive(Clone, Debug)]
pub(crate) struct WordSet {
    words: Vec<HotWord>,
    /// An index of a word, plus 1.
    slots: [u16; SLOTS],
}

impl WordSet {
    /// The keywords of a run.
    pub(crate) fn new(parts: &Parts, run: &Run, states: &[HotState]) -> Self {
        let (from, len) = run.words;
        let words = parts.words.get(usize::from(from)..).unwrap_or_default();
        let words = words.get(..usize::from(len)).unwrap_or_default();
        let mut set = Self {
            words: words
                .iter()
                .map(|word| HotWord::new(parts, word, states))
                .collect(),
            slots: [0; SLOTS],
        };
        for number in 0..set.words.len() {
            set.chain(number);
        }
        set
    }

    /// Puts a word into its slot.
    fn chain(&mut self, index: usize) {
        let Some(word) = self.words.get_mut(index) else {
            return;
        };
        let at = slot(word.first, usize::from(word.len));
        if let Some(slot) = self.slots.get_mut(at) {
            word.next = *slot;
            *slot = u16::try_from(index.wrapping_add(1)).unwrap_or(0);
        }
    }

    /// The word of `len` bytes, at least one, with which `text` begins, if it is a keyword.
    #[inline(always)]
    pub(crate) fn find(&self, text: &[u8], len: usize) -> Option<&HotWord> {
        let at = slot(*text.first()?, len);
        let mut index = self.slots.get(at).copied().unwrap_or(0);
        while index != 0 {
            let word = self.words.get(usize::from(index.wrapping_sub(1)))?;
            if usize::from(word.len) == len && word.is_at(text, len) {
                return Some(word);
            }
            index = word.next;
        }
        None
    }
}

impl HotWord {
    fn new(parts: &Parts, word: &Word, states: &[HotState]) -> Self {
        let bytes = parts.word_bytes.get(word.bytes.0 as usize..);
        let bytes = bytes.unwrap_or_default();
        let bytes = bytes.get(..usize::from(word.bytes.1)).unwrap_or_default();
        let leap = states.get(usize::from(word.state)).map(|state| state.leap);
        let leap = leap.unwrap_or_default();
        let mut hot = Self {
            len: word.bytes.1,
            first: bytes.first().map_or(0, |&[byte, _]| byte),
            state: word.state,
            accept: leap.found.accept,
            token: leap.found.token,
            ..Self::default()
        };
        for (block, bytes) in hot.blocks.iter_mut().zip(bytes.chunks(8)) {
            for (&[byte, folded], shift) in bytes.iter().zip((0u32..64).step_by(8)) {
                let at = |byte: u8| u64::from(byte).wrapping_shl(shift);
                block.kept |= at(0xff);
                block.folded |= at(folded);
                block.value |= at(byte | folded);
            }
        }
        hot
    }

    /// Whether `text` begins with it; `len` is its length, and there are as many bytes.
    #[inline(always)]
    fn is_at(&self, text: &[u8], len: usize) -> bool {
        let mut rest = text;
        for block in &self.blocks {
            if block.kept == 0 {
                break;
            }
            let Some((bytes, behind)) = rest.split_first_chunk::<8>() else {
                return self.is_at_end(text, len);
            };
            let bytes = u64::from_le_bytes(*bytes);
            if (bytes | block.folded) & block.kept != block.value {
                return false;
            }
            rest = behind;
        }
        true
    }

    /// The same where fewer bytes are left than its blocks have.
    #[cold]
    #[inline(never)]
    fn is_at_end(&self, text: &[u8], len: usize) -> bool {
        let mut longer = [0; BLOCKS * 8];
        let text = text.get(..len).unwrap_or_default();
        for (to, from) in longer.iter_mut().zip(text) {
            *to = *from;
        }
        text.len() <= longer.len() && self.is_at(&longer, len)
    }
}

/// Where words of a first byte and a length are looked for.
#[inline(always)]
const fn slot(first: u8, len: usize) -> usize {
    let first = (first | FOLD) as usize;
    first.wrapping_add(len.wrapping_mul(27)) & (SLOTS - 1)
}

/// Letters in either case have one slot.
const FOLD: u8 = 0x20;
const SLOTS: usize = 256;
