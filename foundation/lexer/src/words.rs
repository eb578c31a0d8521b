//! Keywords that a run went over.
//!
//! Where keywords and a general name begin in one state, walking byte by byte would follow the
//! keywords' tree. Instead the run goes to the end of the name at once, and the name is looked up:
//! by a hash of its length and first eight bytes, then by all bytes, eight at a time.

use crate::scanner::Scanner;
use crate::{Parts, Run, Word};

/// A keyword, ready to be compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HotWord {
    blocks: [Block; BLOCKS],
    classes_at: u32,
    len: u8,
    /// How many blocks there are; 0: it is compared by classes.
    block_count: u8,
    /// Where it leads.
    state: u16,
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

const BLOCKS: usize = 3;

/// A run's keywords.
#[derive(Clone, Debug)]
pub(crate) struct WordSet {
    words: Vec<HotWord>,
    /// An index of a word, plus 1.
    slots: Vec<u16>,
    /// What is left of a hash.
    shift: u32,
}

impl WordSet {
    /// The keywords of a run.
    pub(crate) fn new(parts: &Parts, run: &Run) -> Self {
        let (from, len) = run.words;
        let words = parts.words.get(usize::from(from)..).unwrap_or_default();
        let words = words.get(..usize::from(len)).unwrap_or_default();
        let bits = words
            .len()
            .saturating_mul(4)
            .next_power_of_two()
            .ilog2()
            .max(1);
        let mut set = Self {
            words: words.iter().map(|word| HotWord::new(parts, word)).collect(),
            slots: vec![0; 1usize.checked_shl(bits).unwrap_or(2)],
            shift: 64u32.saturating_sub(bits),
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
        let len = usize::from(word.len);
        let [first, ..] = word.blocks;
        let key = first.value & kept(len) | FOLD;
        let at = hash(key, len).wrapping_shr(self.shift);
        let slot = usize::try_from(at)
            .ok()
            .and_then(|at| self.slots.get_mut(at));
        if let Some(slot) = slot {
            word.next = *slot;
            *slot = u16::try_from(index.wrapping_add(1)).unwrap_or(0);
        }
    }

    /// The state of the word of `len` bytes with which `text` begins, if it is a keyword.
    #[inline(always)]
    pub(crate) fn find(&self, scanner: &Scanner, text: &[u8], len: usize) -> Option<u16> {
        let Some(first) = text.first_chunk::<8>() else {
            return self.find_slowly(scanner, text, len);
        };
        let key = u64::from_le_bytes(*first) & kept(len) | FOLD;
        let at = usize::try_from(hash(key, len).wrapping_shr(self.shift)).unwrap_or(0);
        let mut index = self.slots.get(at).copied().unwrap_or(0);
        while index != 0 {
            let word = self.words.get(usize::from(index.wrapping_sub(1)))?;
            if usize::from(word.len) == len && word.is_at(scanner, text, len) {
                return Some(word.state);
            }
            index = word.next;
        }
        None
    }

    /// At the very end of a segment.
    #[cold]
    #[inline(never)]
    fn find_slowly(&self, scanner: &Scanner, text: &[u8], len: usize) -> Option<u16> {
        let mut words = self.words.iter();
        let found = words.find(|word| usize::from(word.len) == len && word.is(scanner, text, len));
        found.map(|word| word.state)
    }
}

impl HotWord {
    fn new(parts: &Parts, word: &Word) -> Self {
        let mut hot = Self {
            classes_at: word.classes.0,
            len: word.classes.1,
            state: word.state,
            ..Self::default()
        };
        let classes = classes(parts, word);
        let mut count = 0;
        for (block, classes) in hot.blocks.iter_mut().zip(classes.chunks(8)) {
            count = u8::saturating_add(count, 1);
            for (class, shift) in classes.iter().zip((0u32..64).step_by(8)) {
                let mut bytes = members(parts, *class);
                let (byte, folded) = match (bytes.next(), bytes.next(), bytes.next()) {
                    (Some(byte), None, _) => (byte, 0),
                    (Some(one), Some(other), None) if one ^ other == 0x20 => (one, 0x20),
                    // The compiler makes no such word.
                    _ => return Self::default(),
                };
                let at = |byte: u8| u64::from(byte).wrapping_shl(shift);
                block.kept |= at(0xff);
                block.folded |= at(folded);
                block.value |= at(byte | folded);
            }
        }
        if classes.len() <= BLOCKS.saturating_mul(8) {
            hot.block_count = count;
        }
        hot
    }

    /// Whether `text` begins with it; `len` is its length.
    #[inline(always)]
    fn is_at(&self, scanner: &Scanner, text: &[u8], len: usize) -> bool {
        let blocks = self
            .blocks
            .get(..usize::from(self.block_count))
            .unwrap_or_default();
        if blocks.is_empty() {
            return self.is(scanner, text, len);
        }
        let mut rest = text;
        for block in blocks {
            let Some((bytes, behind)) = rest.split_first_chunk::<8>() else {
                return self.is(scanner, text, len);
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
    fn is(&self, scanner: &Scanner, text: &[u8], len: usize) -> bool {
        let classes = &scanner.table.parts.word_classes;
        let classes = classes.get(self.classes_at as usize..).unwrap_or_default();
        let bytes = text.get(..len).unwrap_or_default();
        classes.len() >= len
            && bytes
                .iter()
                .zip(classes)
                .all(|(&byte, &class)| scanner.class(byte) == class)
    }
}

fn classes<'p>(parts: &'p Parts, word: &Word) -> &'p [u8] {
    let (from, len) = word.classes;
    let classes = parts.word_classes.get(from as usize..).unwrap_or_default();
    classes.get(..usize::from(len)).unwrap_or_default()
}

/// The bytes of a class.
fn members(parts: &Parts, class: u8) -> impl Iterator<Item = u8> {
    let all = (0..=255u8).zip(parts.classes.iter());
    all.filter(move |&(_, &of)| of == class)
        .map(|(byte, _)| byte)
}

/// The bytes of a key that a word of this length has.
#[inline(always)]
const fn kept(len: usize) -> u64 {
    if len >= 8 {
        u64::MAX
    } else {
        (1u64 << ((len as u64).wrapping_mul(8) & 63)).wrapping_sub(1)
    }
}

#[inline(always)]
const fn hash(key: u64, len: usize) -> u64 {
    key.wrapping_add((len as u64) << 56).wrapping_mul(FACTOR)
}

/// Letters in either case have one hash.
const FOLD: u64 = 0x2020_2020_2020_2020;
/// 2⁶⁴ divided by the golden ratio: it spreads neighbouring keys.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
