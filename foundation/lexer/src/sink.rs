//! What a scanner tells, and what may be answered.

use crate::Condition;

/// A rule has matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Which rule; `None`: no rule matches this byte (flex would echo it).
    pub rule: Option<u16>,
    /// What `return` gives: an index into the grammar's tokens, plus 1; 0 if nothing.
    pub token: u16,
    /// The bytes that matched. Shorter than [`Token::len`] if they are more than the limit, or if
    /// there was no memory to keep them.
    pub text: &'a [u8],
    /// How many bytes matched; 0 at the end of the input only.
    pub len: u64,
}

impl Token<'_> {
    /// Whether `text` is not all of it.
    #[inline]
    pub const fn is_shortened(&self) -> bool {
        self.len > self.text.len() as u64
    }
}

/// How to go on after a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Then {
    /// With the next token.
    #[default]
    Go,
    /// In a start condition, after so many bytes that nobody looks at. `u64::MAX`: all there are.
    Skip(u64, Option<Condition>),
    /// In a start condition.
    Begin(Condition),
    /// Not at all: the rest of this direction is not scanned.
    Stop,
}

/// What a scanner tells its tokens.
pub trait Sink {
    /// A token. Its rule's own start condition has been begun already.
    fn token(&mut self, token: Token<'_>) -> Then;

    /// Bytes of the token at hand that are beyond the limit, as they pass by: it is told later, and
    /// shortened. `before`: with the first of them, those within the limit; empty if there was no
    /// memory to keep them.
    #[inline]
    fn overflow(&mut self, before: Option<&[u8]>, bytes: &[u8]) {
        let _ = (before, bytes);
    }

    /// Bytes that [`Then::Skip`] asked to skip, as they pass by.
    #[inline]
    fn skipped(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// All bytes that [`Then::Skip`] asked for have passed. How to go on.
    #[inline]
    fn skip_ended(&mut self) -> Then {
        Then::Go
    }
}
