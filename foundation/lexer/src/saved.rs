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

    /// Bytes of the token that has begun; 0 between two.
    #[inline]
    pub const fn token_len(&self) -> u64 {
        self.token_len
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
        let resync = scanner.table().parts().resync;
        self.gap_to(resync, texts, len)
    }

    /// The same, for a grammar that says otherwise where it goes on.
    pub fn gap_to(
        &mut self,
        resync: Option<Condition>,
        texts: &mut crate::Texts,
        len: u64,
    ) -> bool {
        if self.is_stopped {
            return true;
        }
        if self.skip >= len && self.skip > 0 {
            self.skip_some(len);
            // Nobody looked at the last byte; what follows is something new.
            self.at_line_start |= self.skip == 0;
            return true;
        }
        texts.release(self);
        self.skip = 0;
        self.at_line_start = false;
        match resync {
            Some(condition) => self.condition = condition,
            None => self.is_stopped = true,
        }
        false
    }

    /// Where it goes on if bytes are missing now: as `resync` says of the start condition of the
    /// token at hand.
    pub fn resync(&self, resync: &[(Condition, Condition)]) -> Option<Condition> {
        let condition = match self.token_len {
            0 => self.condition,
            _ => self.token_condition,
        };
        let mut known = resync.iter().filter(|(from, _)| *from == condition);
        known.next().map(|&(_, to)| to)
    }

    /// `u64::MAX` never ends.
    #[inline]
    pub(crate) fn skip_some(&mut self, len: u64) {
        if self.skip != u64::MAX {
            self.skip = self.skip.saturating_sub(len);
        }
    }
}
