//! Bodies in chunks (RFC 9112 §7.1).

use crate::anomaly::Anomaly;
use crate::parser::turn::Turn;
use crate::state::Phase;
use crate::syntax::{ChunkLine, ChunkStep};
use flowpin_record::MessageSink;
use memchr::memchr;

impl<S: MessageSink> Turn<'_, S> {
    /// The line before a chunk.
    pub(crate) fn chunk_line<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut line = self.mine.chunk;
        let (used, step) = line.read(bytes, &mut |anomaly| self.report(anomaly));
        self.mine.chunk = line;
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
                self.report(Anomaly::ChunkSizeInvalid);
                self.mine.chunk = ChunkLine::default();
                self.body_unreadable();
            }
        }
        bytes.get(used..).unwrap_or_default()
    }

    /// The first bytes of a body whose coding was `chunked` in disguise: what they are decides. A
    /// chunk's size in up to six digits, and a line end; or else it has no chunks.
    pub(crate) fn maybe_chunked<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut rest = bytes;
        while let [byte, after @ ..] = rest {
            let matched = usize::from(self.mine.matched);
            let mut read = self.mine.left.to_le_bytes();
            let known = read.get(..matched).unwrap_or_default();
            let digits = known.iter().take_while(|one| one.is_ascii_hexdigit());
            let fits = match (digits.count(), known.last(), byte) {
                (1.., Some(b'\r'), b'\n') => {
                    self.mine.phase = Phase::ChunkLine;
                    self.mine.left = 0;
                    let line = [known, b"\n"].concat();
                    self.chunk_line(&line);
                    return after;
                }
                (count, _, byte) if count == matched && count < 6 && byte.is_ascii_hexdigit() => {
                    true
                }
                (1.., Some(last), b'\r') => *last != b'\r',
                _ => false,
            };
            if !fits {
                self.no_chunks();
                return rest;
            }
            if let Some(place) = read.get_mut(matched) {
                *place = *byte;
            }
            self.mine.left = u64::from_le_bytes(read);
            self.mine.matched = self.mine.matched.wrapping_add(1);
            rest = after;
        }
        rest
    }

    /// The body has no chunks, whatever its head says: what was read is its beginning.
    pub(crate) fn no_chunks(&mut self) {
        let read = core::mem::take(&mut self.mine.left).to_le_bytes();
        self.mine.phase = Phase::UntilClose;
        let known = read.get(..usize::from(self.mine.matched));
        self.body(known.unwrap_or_default());
    }

    /// The end of the body is unknown: that of a response lasts until its stream ends.
    fn body_unreadable(&mut self) {
        if self.to_server {
            self.lose(Phase::LostInLine);
        } else {
            self.mine.phase = Phase::UntilClose;
        }
    }

    /// The line end after a chunk's bytes; anything before it is skipped and reported.
    pub(crate) fn chunk_end<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
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
            0 => self.report(Anomaly::ChunkLineFeed),
            RETURN => {}
            _ => self.report(Anomaly::ChunkEndMissing),
        }
        self.mine.phase = Phase::ChunkLine;
        bytes.get(feed.wrapping_add(1)..).unwrap_or_default()
    }
}
