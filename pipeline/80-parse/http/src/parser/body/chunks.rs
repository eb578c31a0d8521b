//! Bodies in chunks (RFC 9112 §7.1).

use crate::anomaly::Anomaly;
use crate::parser::turn::Turn;
use crate::state::Phase;
use crate::syntax::{ChunkLine, ChunkStep};
use flowpin_record::MessageSink;
use memchr::memchr;

impl<S: MessageSink> Turn<'_, S> {
    /// The line before a chunk.
    pub(in crate::parser) fn chunk_line<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut line = self.mine.chunk;
        let (used, step) = line.read(bytes, &mut |anomaly| self.tell(anomaly));
        self.mine.chunk = line;
        self.pools.stats.head_bytes = self.pools.stats.head_bytes.wrapping_add(used as u64);
        match step {
            ChunkStep::More => {}
            ChunkStep::Size(size) => {
                self.mine.chunk = ChunkLine::default();
                self.mine.left = size;
                self.mine.phase = if size == 0 {
                    Phase::Trailer
                } else {
                    Phase::ChunkData
                };
            }
            ChunkStep::Invalid => {
                self.tell(Anomaly::ChunkSizeInvalid);
                self.mine.chunk = ChunkLine::default();
                self.body_unreadable();
            }
        }
        bytes.get(used..).unwrap_or_default()
    }

    /// Where the body ends cannot be told any more: a response's goes on to the end.
    fn body_unreadable(&mut self) {
        if self.to_server {
            self.lose(Phase::LostInLine);
        } else {
            self.mine.phase = Phase::UntilClose;
        }
    }

    /// A chunk's bytes.
    #[inline]
    pub(in crate::parser) fn chunk_data<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let (body, rest) = self.take(bytes);
        self.body(body);
        if self.mine.left > 0 {
            return rest;
        }
        // PERF: the usual end lies behind the bytes: no further phase for it.
        if let [b'\r', b'\n', rest @ ..] = rest {
            self.mine.phase = Phase::ChunkLine;
            return rest;
        }
        self.mine.phase = Phase::ChunkEnd;
        // Nothing of the line end was read.
        self.mine.matched = 0;
        rest
    }

    /// The line end behind a chunk's bytes; whatever stands before it is skipped, and told.
    pub(in crate::parser) fn chunk_end<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        const RETURN: u8 = 1;
        const OTHER: u8 = 2;
        let feed = memchr(b'\n', bytes);
        let skipped = bytes.get(..feed.unwrap_or(bytes.len())).unwrap_or_default();
        for &byte in skipped {
            self.mine.matched = match (self.mine.matched, byte) {
                (0, b'\r') => RETURN,
                _ => OTHER,
            };
        }
        let Some(feed) = feed else {
            return &[];
        };
        match self.mine.matched {
            0 => self.tell(Anomaly::ChunkLineFeed),
            RETURN => {}
            _ => self.tell(Anomaly::ChunkEndMissing),
        }
        self.mine.phase = Phase::ChunkLine;
        bytes.get(feed.wrapping_add(1)..).unwrap_or_default()
    }
}
