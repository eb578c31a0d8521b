//! Bodies: skipped by arithmetic, unless somebody asked for them.

mod chunks;
mod files;

use crate::anomaly::Anomaly;
use crate::parser::turn::{NEXT_RESPONSE, Turn};
use crate::state::{NONE, Phase, Side};
use flowpin_record::MessageSink;

impl<S: MessageSink> Turn<'_, S> {
    /// Bytes of a body of known length.
    #[inline]
    pub(in crate::parser) fn counted<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let (body, rest) = self.take(bytes);
        self.body(body);
        if self.mine.left == 0 {
            self.message_over();
        }
        rest
    }

    /// As many bytes as are to come, at most.
    #[inline]
    pub(in crate::parser) fn take<'b>(&mut self, bytes: &'b [u8]) -> (&'b [u8], &'b [u8]) {
        let count = usize::try_from(self.mine.left).unwrap_or(usize::MAX);
        let (body, rest) = bytes.split_at_checked(count).unwrap_or((bytes, &[]));
        self.mine.left = self.mine.left.saturating_sub(body.len() as u64);
        (body, rest)
    }

    /// Bytes of a body that ends with the stream.
    pub(in crate::parser) fn until_close<'b>(&mut self, bytes: &[u8]) -> &'b [u8] {
        self.body(bytes);
        &[]
    }

    /// A response to a request that was not seen: a body, or the next response at once.
    pub(in crate::parser) fn maybe_body<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let is_empty = matches!(bytes.first(), Some(b'\r' | b'\n' | b' ' | b'\t' | 0));
        if self.mine.has(Side::BODILESS) && self.mine.matched == 0 && is_empty {
            // As before any response.
            self.mine.body_len = 0;
            self.response_over();
            return bytes;
        }
        let rest = self.match_on(NEXT_RESPONSE, bytes);
        let matched = usize::from(self.mine.matched);
        if matched == NEXT_RESPONSE.len() {
            self.mine.body_len = 0;
            self.response_over();
            self.begin_message();
            self.mine.phase = Phase::FirstLine;
            self.hold(NEXT_RESPONSE);
        } else if !rest.is_empty() {
            self.is_body(NEXT_RESPONSE.get(..matched).unwrap_or_default());
        }
        rest
    }

    /// What followed the head was a body, and begins with `read`.
    pub(in crate::parser) fn is_body(&mut self, read: &[u8]) {
        let framing = self.mine.framing;
        if self.mine.has(Side::BODILESS) {
            self.tell(Anomaly::BodyUnexpected);
        }
        self.body_begins();
        if framing.chunked {
            self.mine.phase = Phase::ChunkLine;
            self.chunk_line(read);
        } else if framing.length.is_none() {
            self.mine.phase = Phase::UntilClose;
            self.body(read);
        } else {
            self.mine.phase = Phase::Counted;
            // The bytes that were compared may be all there are, and more.
            self.counted(read);
        }
    }

    /// A body begins.
    #[inline]
    pub(in crate::parser) fn body_begins(&mut self) {
        self.mine.body_len = 0;
        if self.pools.bodies.are_wanted() {
            self.wanted_body_begins();
        }
    }

    /// The next bytes of a body.
    #[inline]
    pub(in crate::parser) fn body(&mut self, bytes: &[u8]) {
        self.count_body(bytes.len() as u64);
        if self.mine.body != NONE {
            self.wanted_body(bytes);
        }
    }

    /// Bytes of a body came, or are missing.
    #[inline]
    pub(in crate::parser) fn count_body(&mut self, count: u64) {
        self.mine.body_len = self.mine.body_len.saturating_add(count);
        self.pools.stats.body_bytes = self.pools.stats.body_bytes.saturating_add(count);
    }
}
