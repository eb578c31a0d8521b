//! The straight way: tokens whose ends are all but sure, one after the other.
//!
//! What a table says of a state takes a load, a test and a branch each time. A grammar that comes
//! along as Rust has them as instructions instead: [`Straight`] is what the compiler writes of it,
//! [`Cursor`] what that is written in. Whatever is not straight goes by the table.

use crate::walk::quick;
use crate::windows::{Masks, Windows};
use crate::{Condition, Saved, Scanner, Sink, Then, Token};
use flowpin_cpu::Classifier;

/// A grammar's straight tokens.
///
/// For `<VALUE>{LINE}*\r?\n { BEGIN(FIELD); return VALUE_LINE; }` the compiler writes:
///
/// ```text
/// let at = cursor.run(1, 0);                        // to the first CR or LF
/// let at = cursor.is(at, *b"\r\n")?;                // otherwise: by the table
/// cursor.tell(at, 21, VALUE_LINE, Some(IN_FIELD))   // and on in FIELD
/// ```
// PERF: a head of 68 bytes takes 112 cycles instead of 209, one of 703 bytes 377 instead of 634
// (`http_speed` of flowpin-grammar, `grammar` and `table`; EPYC of 2025).
pub trait Straight: Copy {
    /// What is not straight is not in the table's quick way, either.
    #[doc(hidden)]
    const IS_TABLE: bool = false;

    /// Tells tokens, each with [`Cursor::tell`], until one is not straight or the cursor says that
    /// it is over; always None then.
    fn tokens<C: Classifier, S: Sink>(self, cursor: &mut Cursor<'_, C, S>) -> Option<Condition>;
}

/// Where a scan stands in a segment: at the beginning of a token.
pub struct Cursor<'a, C, S> {
    pub(crate) scanner: &'a Scanner,
    pub(crate) windows: &'a Windows<'a, C>,
    pub(crate) masks: &'a mut Masks,
    pub(crate) saved: &'a mut Saved,
    pub(crate) sink: &'a mut S,
    /// The bytes from there on.
    pub(crate) rest: &'a [u8],
    /// The answer to the last token, if it needs care, or if nothing is left.
    pub(crate) then: Option<Then>,
}

impl<C: Classifier, S: Sink> Cursor<'_, C, S> {
    /// The start condition.
    #[inline(always)]
    pub fn condition(&self) -> Condition {
        self.saved.condition
    }

    /// The first place at or behind `from` whose byte is in a set, of those that end runs; the end
    /// if there is none.
    #[inline(always)]
    pub fn run(&mut self, set: u8, from: usize) -> usize {
        let left = self.rest.len().wrapping_sub(from);
        from.wrapping_add(self.windows.count(self.masks, set, left))
    }

    /// If these bytes come at `at`: the place behind them.
    #[inline(always)]
    pub fn is<const N: usize>(&self, at: usize, bytes: [u8; N]) -> Option<usize> {
        let found: [u8; N] = self.rest.get(at..)?.first_chunk().copied()?;
        (found == bytes).then_some(at.wrapping_add(N))
    }

    /// If such a byte comes at `at`: the place behind it.
    #[inline(always)]
    pub fn is_one_of(&self, at: usize, is_such: impl Fn(u8) -> bool) -> Option<usize> {
        let byte = *self.rest.get(at)?;
        is_such(byte).then_some(at.wrapping_add(1))
    }

    /// Whether the token begins with a word. `folded` has the bit of each letter in either case;
    /// such a letter is in lower case in `word`.
    #[inline(always)]
    pub fn is_word<const N: usize>(&self, word: [u8; N], folded: [u8; N]) -> bool {
        let Some(text) = self.rest.first_chunk::<N>() else {
            return false;
        };
        // The last bytes are compared together with some before them.
        let last = N.saturating_sub(8);
        let mut at = 0;
        loop {
            if (eight(text, at) | eight(&folded, at)) != eight(&word, at) {
                return false;
            }
            if at >= last {
                return true;
            }
            at = at.wrapping_add(8).min(last);
        }
    }

    /// Tells the token that ends at `at`. The condition of the next.
    ///
    /// None if the scan does not go on here: at the end, where the answer asks for something else,
    /// or before the token if it is too long.
    #[inline(always)]
    pub fn tell(
        &mut self,
        at: usize,
        rule: u16,
        token: u16,
        begin: Option<Condition>,
    ) -> Option<Condition> {
        let (text, behind) = self.rest.split_at_checked(at)?;
        if at > self.scanner.token_len_max {
            return None;
        }
        self.rest = behind;
        if let Some(begin) = begin {
            self.saved.condition = begin;
        }
        let then = self.sink.token(Token {
            rule: Some(rule),
            token,
            text,
            len: at as u64,
        });
        if then != Then::Go || behind.is_empty() {
            self.then = Some(then);
            return None;
        }
        // What is known when the program is built need not be loaded.
        Some(begin.unwrap_or(self.saved.condition))
    }
}

/// Eight bytes from `at` on as a number; zeros where there are none.
#[inline(always)]
fn eight<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
    let four = |at: usize| {
        let bytes: Option<&[u8; 4]> = bytes.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map(|bytes| u64::from(u32::from_le_bytes(*bytes)))
    };
    let two = |at: usize| {
        let bytes: Option<&[u8; 2]> = bytes.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map(|bytes| u64::from(u16::from_le_bytes(*bytes)))
    };
    let behind = N.wrapping_sub(at);
    let (first, last) = match behind {
        8.. => (four(at), four(at.wrapping_add(4))),
        5..8 => (four(at), four(N.wrapping_sub(4))),
        4 => (four(at), None),
        2 => (two(at), None),
        3 => (two(at), two(N.wrapping_sub(2))),
        _ => (bytes.get(at).map(|byte| u64::from(*byte)), None),
    };
    first.unwrap_or(0) | last.unwrap_or(0) << 32
}

/// By the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByTable;

impl Straight for ByTable {
    const IS_TABLE: bool = true;

    #[inline(always)]
    fn tokens<C: Classifier, S: Sink>(self, cursor: &mut Cursor<'_, C, S>) -> Option<Condition> {
        let bytes = cursor.windows.bytes();
        let at = bytes.len().wrapping_sub(cursor.rest.len());
        let (at, then) = by_table(cursor, bytes, at);
        cursor.rest = bytes.get(at..).unwrap_or_default();
        cursor.then = then;
        None
    }
}

/// The table's quick tokens from `at` on: where they end, and the answer to the last.
#[inline(always)]
fn by_table<C: Classifier, S: Sink>(
    cursor: &mut Cursor<'_, C, S>,
    bytes: &[u8],
    at: usize,
) -> (usize, Option<Then>) {
    let (scanner, saved) = (cursor.scanner, &mut *cursor.saved);
    // Where the beginning of a line matters, it is looked at after each token.
    let goes_on_before = match scanner.uses_line_start {
        true => 0,
        false => bytes.len(),
    };
    let mut start = scanner.start(saved.condition, saved.at_line_start);
    let mut at = at;
    loop {
        let found = quick(scanner, cursor.windows, cursor.masks, bytes, at, start);
        let Some((end, found)) = found else {
            return (at, None);
        };
        let Some(text) = bytes.get(at..end) else {
            return (at, None);
        };
        if text.len() > scanner.token_len_max {
            return (at, None);
        }
        at = end;
        if found.begin != 0 {
            saved.condition = found.begin.wrapping_sub(1);
            start = found.begin_state;
        }
        let then = cursor.sink.token(Token {
            rule: found.accept.checked_sub(1),
            token: found.token,
            text,
            len: text.len() as u64,
        });
        if then != Then::Go || at >= goes_on_before {
            if scanner.uses_line_start {
                saved.at_line_start = text.last() == Some(&b'\n');
            }
            return (at, Some(then));
        }
    }
}
