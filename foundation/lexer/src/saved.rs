//! What a scanner keeps of a stream between two segments.

use crate::{Condition, Scanner};

/// Where a scanner stands in one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Bytes still to be skipped.
    pub(crate) skip: u64,
    /// Bytes of the token so far.
    pub(crate) token_len: u64,
    /// The text of the token so far, in [`crate::Texts`].
    pub(crate) text: u32,
    /// The state within the token.
    pub(crate) state: u16,
    pub(crate) condition: Condition,
    /// The start condition in which the token began.
    pub(crate) token_condition: Condition,
    pub(crate) at_line_start: bool,
    pub(crate) is_stopped: bool,
    pub(crate) has_lost_text: bool,
}

// The bound that the design promises for each connection and direction.
const _: () = assert!(size_of::<Saved>() <= 32);

pub(crate) const NO_TEXT: u32 = u32::MAX;

impl Saved {
    /// The beginning of a stream, in a start condition.
    pub const fn new(condition: Condition) -> Self {
        Self {
            skip: 0,
            token_len: 0,
            text: NO_TEXT,
            state: 0,
            condition,
            token_condition: condition,
            at_line_start: true,
            is_stopped: false,
            has_lost_text: false,
        }
    }

    /// The start condition that the scanner is in.
    #[inline]
    pub const fn condition(&self) -> Condition {
        self.condition
    }

    /// Begins a start condition with the next token.
    ///
    /// In the middle of a token it is begun when that token has ended, unless its rule begins
    /// another.
    #[inline]
    pub const fn begin(&mut self, condition: Condition) {
        self.condition = condition;
    }

    /// Whether nothing more is scanned.
    #[inline]
    pub const fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Whether the scanner stands between two tokens and skips nothing.
    #[inline]
    pub const fn is_between_tokens(&self) -> bool {
        self.token_len == 0 && self.skip == 0
    }

    /// Bytes still to be skipped.
    #[inline]
    pub const fn skip_len(&self) -> u64 {
        self.skip
    }

    /// Scans nothing more of this direction.
    pub fn stop(&mut self, texts: &mut crate::Texts) {
        texts.release(self);
        self.skip = 0;
        self.is_stopped = true;
    }

    /// `len` bytes are missing. If they were to be skipped anyhow, nothing is lost: true.
    ///
    /// Otherwise the grammar's `%resync` condition is begun, which looks for the next message; a
    /// grammar that has none is stopped.
    pub fn gap(&mut self, scanner: &Scanner, texts: &mut crate::Texts, len: u64) -> bool {
        if self.is_stopped {
            return true;
        }
        if self.skip >= len && self.skip > 0 {
            self.skip_some(len);
            return true;
        }
        texts.release(self);
        self.skip = 0;
        self.at_line_start = false;
        match scanner.table().parts().resync {
            Some(condition) => self.condition = condition,
            None => self.is_stopped = true,
        }
        false
    }

    /// `u64::MAX` never ends.
    #[inline]
    pub(crate) fn skip_some(&mut self, len: u64) {
        if self.skip != u64::MAX {
            self.skip = self.skip.saturating_sub(len);
        }
    }
}
