//! Behind a line of blanks in the head of a response: more fields, or already its body.
//!
//! RFC 9112 §5.2 makes such a line a part of the field before it, and some receivers end the head
//! there. What follows tells: the name of a field and its colon, or anything else, which can only
//! be a body.

use crate::parser::turn::Turn;
use crate::state::{Phase, Side};
use flowpin_record::MessageSink;

impl<S: MessageSink> Turn<'_, S> {
    /// A line of blanks was read.
    pub(super) fn maybe_over(&mut self) {
        if !self.to_server && self.mine.phase == Phase::Fields {
            self.mine.phase = Phase::MaybeOver;
            self.mine.matched = 0;
        }
    }

    /// Keeps the next bytes as long as they may be a field's name.
    #[cold]
    pub(crate) fn over_or_field<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let room = usize::from(NAME_MAX.saturating_sub(self.mine.matched));
        let name = bytes
            .iter()
            .take(room)
            .take_while(|&&byte| is_of_name(byte));
        let count = name.count();
        let (read, rest) = bytes.split_at_checked(count).unwrap_or((bytes, &[]));
        let count = u8::try_from(count).unwrap_or(NAME_MAX);
        self.mine.matched = self.mine.matched.saturating_add(count);
        if rest.is_empty() && self.mine.matched < NAME_MAX {
            return self.hold(read);
        }
        let is_field = match rest.first() {
            Some(b':') => self.mine.matched > 0,
            // The empty line that ends the head.
            Some(b'\r' | b'\n') => self.mine.matched == 0,
            _ => false,
        };
        if is_field {
            // Its line continues what is kept.
            self.mine.phase = Phase::Fields;
        } else {
            self.over_here();
        }
        bytes
    }

    /// The head was over: what is kept belongs to the body.
    #[cold]
    pub(crate) fn over_here(&mut self) {
        let kept = self.take_line();
        self.mine.clear(Side::LINE_ENDS | Side::LINE_CUT);
        self.mine.phase = Phase::Fields;
        self.head_over(false);
        self.read(&kept);
        self.pools.line = kept;
    }
}

/// RFC 9110 §5.6.2: the bytes of a token.
const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        )
}

/// No field that is looked at has a longer name.
const NAME_MAX: u8 = 64;
