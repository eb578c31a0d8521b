//! Keywords that a run went over.
//!
//! Where keywords and a general name begin in one state, walking byte by byte would follow the
//! keywords' tree. Instead the run goes to the end of the name at once, and the name is looked up:
//! by its length and first byte, then by all bytes, eight at a time.

use crate::leap::Leap;
use crate::scanner::{HotState, Match};
use crate::tail::find_tail;
use crate::{Parts, Run, Word};

/// A keyword, ready to be compared: in one line of the cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct HotWord {
    /// Its first bytes, in lower case where that does not matter.
    value: First,
    /// The bit of each letter in either case.
    folded: First,
    /// What matches where the leap ends that most often follows: the leap behind its tail, if it
    /// has one.
    pub(crate) found: Match,
    /// Where its tail's byte leads.
    pub(crate) tail_state: u16,
    /// Where it leads.
    pub(crate) state: u16,
    len: u8,
    /// Behind it, [`find_tail`] tells how to go on.
    pub(crate) has_tail: bool,
    /// The next word of the same slot, plus 1; 0 if there is none.
    next: u16,
}

const _: () = assert!(size_of::<HotWord>() == 64);

/// The first bytes of a text, eight in each number; 0 behind its end.
type First = [u64; 3];
/// As many bytes as those are: hardly any word is longer.
const FIRST_BYTES: usize = size_of::<First>();

/// A run's keywords.
#[derive(Clone, Debug)]
pub(crate) struct WordSet {
    words: Vec<HotWord>,
    /// Their bytes, as [`crate::Parts::word_bytes`] has them.
    spelled: Vec<Vec<[u8; 2]>>,
    /// An index of a word, plus 1.
    slots: [u16; SLOTS],
    /// By length: [`kept`].
    kept: [First; FIRST_BYTES + 1],
}

impl WordSet {
    /// The keywords of a run.
    pub(crate) fn new(parts: &Parts, run: &Run, states: &[HotState]) -> Self {
        let (from, len) = run.words;
        let words = parts.words.get(usize::from(from)..).unwrap_or_default();
        let words = words.get(..usize::from(len)).unwrap_or_default();
        let spelled: Vec<Vec<[u8; 2]>> = words.iter().map(|word| spelled(parts, word)).collect();
        let words = words.iter().zip(&spelled);
        let words = words.map(|(word, bytes)| HotWord::new(word.state, bytes, states));
        let mut set = Self {
            words: words.collect(),
            spelled,
            slots: [0; SLOTS],
            kept: core::array::from_fn(kept),
        };
        for (number, word) in (1u16..).zip(&mut set.words) {
            if let Some(slot) = set.slots.get_mut(slot(word.first(), usize::from(word.len))) {
                word.next = *slot;
                *slot = number;
            }
        }
        set
    }

    /// What follows most of the words, if that is the same for them.
    pub(crate) fn find_tail(
        &mut self,
        parts: &Parts,
        run: &Run,
        states: &[HotState],
    ) -> Option<Leap> {
        let general = HotWord::to(run.after, states);
        find_tail(parts, run, states, general, &mut self.words)
    }

    /// The word of `len` bytes, at least one, with which `text` begins, if it is a keyword.
    #[inline(always)]
    pub(crate) fn find(&self, text: &[u8], len: usize) -> Option<&HotWord> {
        match *self.slots.get(slot(*text.first()?, len))? {
            0 => None,
            number => self.find_from(number, text, len),
        }
    }

    /// The same among the words of a slot.
    // PERF: not inlined: most names are no keywords.
    #[inline(never)]
    fn find_from(&self, number: u16, text: &[u8], len: usize) -> Option<&HotWord> {
        let kept = self.kept.get(len.min(FIRST_BYTES))?;
        let mut number = number;
        while number != 0 {
            let word = self.words.get(usize::from(number.wrapping_sub(1)))?;
            if word.is_at(text, len, kept) && (!word.is_long() || self.is_all_at(number, text)) {
                return Some(word);
            }
            number = word.next;
        }
        None
    }

    /// Whether a text begins with all of a word.
    #[cold]
    #[inline(never)]
    fn is_all_at(&self, number: u16, text: &[u8]) -> bool {
        let spelled = self.spelled.get(usize::from(number.wrapping_sub(1)));
        let spelled = spelled.map(Vec::as_slice).unwrap_or_default();
        let mut pairs = text.iter().zip(spelled);
        text.len() >= spelled.len()
            && pairs.all(|(byte, [own, folded])| byte | folded == own | folded)
    }
}

/// A word's bytes.
fn spelled(parts: &Parts, word: &Word) -> Vec<[u8; 2]> {
    let bytes = parts.word_bytes.get(word.bytes.0 as usize..);
    let bytes = bytes.unwrap_or_default();
    let bytes = bytes.get(..usize::from(word.bytes.1)).unwrap_or_default();
    bytes.to_vec()
}

impl HotWord {
    /// What leads to a state, without its bytes.
    fn to(state: u16, states: &[HotState]) -> Self {
        let leap = states.get(usize::from(state)).map(|state| state.leap);
        Self {
            state,
            found: leap.unwrap_or_default().found,
            ..Self::default()
        }
    }

    fn new(state: u16, bytes: &[[u8; 2]], states: &[HotState]) -> Self {
        let mut hot = Self {
            len: u8::try_from(bytes.len()).unwrap_or(u8::MAX),
            ..Self::to(state, states)
        };
        let places = hot.value.iter_mut().zip(&mut hot.folded);
        for ((value, folds), bytes) in places.zip(bytes.chunks(8)) {
            for (&[byte, folded], shift) in bytes.iter().zip((0u32..64).step_by(8)) {
                let at = |byte: u8| u64::from(byte).wrapping_shl(shift);
                *folds |= at(folded);
                *value |= at(byte | folded);
            }
        }
        hot
    }

    /// Whether it is the first `len` bytes of a text, as far as it is compared here.
    #[inline(always)]
    fn is_at(&self, text: &[u8], len: usize, kept: &First) -> bool {
        if len != usize::from(self.len) {
            return false;
        }
        let first = match text.first_chunk::<FIRST_BYTES>() {
            Some(bytes) => [0, 8, 16].map(|at| u64_at(bytes, at)),
            None => first_of_short(text),
        };
        let own = self.folded.iter().zip(&self.value);
        for ((bytes, kept), (folded, value)) in first.iter().zip(kept).zip(own) {
            if *kept == 0 {
                break;
            }
            if ((bytes & kept) | folded) != *value {
                return false;
            }
        }
        true
    }

    /// It is longer than what is compared here.
    #[inline(always)]
    fn is_long(&self) -> bool {
        usize::from(self.len) > FIRST_BYTES
    }

    /// Its first byte.
    const fn first(&self) -> u8 {
        let [first, ..] = self.value;
        first.to_le_bytes()[0]
    }
}

/// The beginning of a text that has fewer bytes.
#[cold]
#[inline(never)]
fn first_of_short(text: &[u8]) -> First {
    [0, 8, 16].map(|at| {
        let bytes = text.get(at..).unwrap_or_default();
        let bytes = bytes.get(..8).unwrap_or(bytes).iter().rev();
        bytes.fold(0, |all: u64, &byte| all << 8 | u64::from(byte))
    })
}

#[inline(always)]
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes.get(at..).and_then(|rest| rest.first_chunk());
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Where words of a first byte and a length are looked for, letters in either case alike.
#[inline(always)]
const fn slot(first: u8, len: usize) -> usize {
    ((first | FOLD) as usize).wrapping_add(len.wrapping_mul(27)) & (SLOTS - 1)
}

/// The bits of a text's first bytes that belong to a word of so many.
fn kept(len: usize) -> First {
    [0, 8, 16].map(|at| {
        let bytes = u32::try_from(len.saturating_sub(at).min(8)).unwrap_or(8);
        let unused = 64u32.saturating_sub(bytes.saturating_mul(8));
        u64::MAX.checked_shr(unused).unwrap_or(0)
    })
}

/// Letters in either case have one slot.
const FOLD: u8 = 0x20;
const SLOTS: usize = 256;
