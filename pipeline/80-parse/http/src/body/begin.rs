//! Where a body begins.

use crate::anomaly::Anomaly;
use crate::parser::pairing::file_number;
use crate::parser::start::NEXT_RESPONSE;
use crate::parser::turn::Turn;
use crate::state::{NONE, Phase, Side, Text};
use flowpin_counters::Loss;
use flowpin_record::{FilePart, MessageSink};

impl<S: MessageSink> Turn<'_, S> {
    /// After the head of a response to an unseen request: a body, or at once the next response.
    pub(crate) fn maybe_body<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
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

    /// The head is followed by a body, which begins with `read`.
    pub(crate) fn is_body(&mut self, read: &[u8]) {
        let framing = self.mine.framing;
        if self.mine.has(Side::BODILESS) {
            self.report(Anomaly::BodyUnexpected);
        }
        self.body_begins();
        if framing.chunked {
            self.mine.phase = Phase::ChunkLine;
            self.chunk_line(read);
        } else if framing.disguised && framing.length.is_none() {
            self.mine.left = 0;
            self.mine.matched = 0;
            self.mine.phase = Phase::MaybeChunked;
            self.maybe_chunked(read);
        } else if framing.length.is_none() {
            self.mine.phase = Phase::UntilClose;
            self.body(read);
        } else {
            self.mine.phase = Phase::Counted;
            // The bytes that were compared may be the whole body, and more.
            self.counted(read);
        }
    }

    /// A body begins.
    #[inline]
    pub(crate) fn body_begins(&mut self) {
        self.mine.body_len = 0;
        if self.pools.bodies.are_wanted() {
            self.wanted_body_begins();
        }
    }

    #[cold]
    fn wanted_body_begins(&mut self) {
        let encodings = self.mine.framing.encodings;
        if self.options.bodies.decode {
            let has_too_many = encodings.has_too_many();
            if has_too_many {
                self.pools.losses.count(Loss::HttpEncodings, 1);
            }
            if has_too_many {
                self.report(Anomaly::EncodingsTooMany);
            } else if encodings.has_unknown() {
                self.report(Anomaly::EncodingUnknown);
            }
        }
        if self.mine.transaction == NONE {
            // Without a record of the transaction there is no file.
            return self.pools.losses.count(Loss::HttpBodies, 1);
        }
        let number = self.file_number();
        let boundary = self.boundary();
        let bodies = &mut self.pools.bodies;
        self.mine.body = bodies.begin(encodings, number, self.queue.shard, &boundary);
        if self.mine.body == NONE {
            self.pools.losses.count(Loss::HttpBodies, 1);
        } else if self.options.bodies.are_handed_on() {
            if self.pools.bodies.begin_file(self.mine.body) {
                self.sink.file(FilePart::Begin(number));
            } else {
                self.pools.losses.count(Loss::HttpFiles, 1);
            }
        }
    }

    /// What divides the parts of a request's body; empty if nothing does, or no record would tell
    /// of it.
    fn boundary(&mut self) -> Vec<u8> {
        if !self.to_server || !self.options.bodies.any() {
            return Vec::new();
        }
        let boundary = self.pools.text(self.mine.transaction, Text::Boundary);
        boundary.to_vec()
    }

    /// The number of the current body's file: a transaction has at most two (request, response).
    fn file_number(&self) -> u64 {
        let transaction = self.pools.transactions.get(self.mine.transaction);
        let depth = transaction.map_or(0, |transaction| transaction.depth);
        file_number(depth, u64::from(!self.to_server))
    }
}
