//! Missing bytes, and recovery after them: the parser finds the next request line or status line.

use super::pairing::file_number;
use super::start::{NEXT_RESPONSE, STATUS_LINE_LEN, is_of_status_line};
use super::turn::Turn;
use crate::anomaly::Anomaly;
use crate::state::{NONE, Phase, Side};
use crate::syntax::{
    ChunkLine, Version, looks_like_request, looks_like_response, request_line, status_line,
};
use flowpin_record::MessageSink;
use memchr::memchr;

impl<S: MessageSink> Turn<'_, S> {
    /// `len` bytes are missing.
    pub(super) fn gap(&mut self, len: u64) {
        match self.mine.phase {
            Phase::HandedOver | Phase::Closed => {}
            Phase::UntilClose => self.missing(len),
            Phase::MaybeChunked => {
                self.no_chunks();
                self.missing(len);
            }
            Phase::Counted => self.missing_of_body(len),
            Phase::ChunkData if self.mine.left >= len => {
                self.mine.left = self.mine.left.wrapping_sub(len);
                self.missing(len);
                if self.mine.left == 0 {
                    self.mine.matched = 0;
                    self.mine.phase = Phase::ChunkEnd;
                }
            }
            Phase::MaybeBody if !self.mine.has(Side::BODILESS) => {
                let read = usize::from(self.mine.matched);
                self.is_body(NEXT_RESPONSE.get(..read).unwrap_or_default());
                self.gap(len);
            }
            _ => {
                self.report(Anomaly::MissingBytes);
                self.mine.set(Side::MISSED);
                // The next byte probably starts a line.
                self.lose(Phase::Lost);
            }
        }
    }

    /// Bytes of a body are missing, and perhaps bytes after it.
    fn missing_of_body(&mut self, len: u64) {
        let of_body = len.min(self.mine.left);
        self.mine.left = self.mine.left.wrapping_sub(of_body);
        self.missing(of_body);
        if self.mine.left == 0 {
            self.message_over();
            let after = len.wrapping_sub(of_body);
            if after > 0 {
                self.gap(after);
            }
        }
    }

    fn missing(&mut self, len: u64) {
        self.count_body(len);
        if self.mine.body != NONE {
            self.wanted_body_gap(len);
        }
    }

    /// Gives up the current message, and looks for the next one from here.
    #[cold]
    pub(crate) fn lose(&mut self, phase: Phase) {
        self.pools
            .texts
            .release(&mut self.mine.line, self.queue.shard);
        self.mine
            .clear(Side::LINE_ENDS | Side::LINE_CUT | Side::SPACES | Side::NULS);
        self.mine.clear(Side::MUSIC | Side::ANYWHERE);
        self.mine.matched = 0;
        self.mine.chunk = ChunkLine::default();
        if self.mine.transaction != NONE || self.mine.body != NONE {
            self.mine.set(Side::BODY_CUT);
            self.message_over();
        }
        self.mine.phase = phase;
    }

    /// Inside a line of no message.
    pub(super) fn lost_in_line<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        if self.mine.has(Side::ANYWHERE) {
            return self.lost_anywhere(bytes);
        }
        let feed = memchr(b'\n', bytes);
        let end = feed.map_or(bytes.len(), |feed| feed.wrapping_add(1));
        let (line, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        if feed.is_some() {
            self.mine.phase = Phase::Lost;
        }
        self.stray(line);
        rest
    }

    /// Shows bytes to rules that stand where a message should begin: some receivers take them for
    /// the body of the request before, or of its response.
    #[inline]
    pub(super) fn stray(&mut self, bytes: &[u8]) {
        if let Some(number) = self.stray_number() {
            self.sink.stray(number, bytes);
        }
    }

    /// The number of the body that bytes between messages may be taken for.
    #[inline]
    pub(super) fn stray_number(&self) -> Option<u64> {
        if self.mine.has(Side::MISSED) {
            // Their message has begun in what the capture does not have.
            return None;
        }
        let open = match self.to_server {
            true => self.queue.last,
            false => self.queue.first,
        };
        let transaction = self.pools.transactions.get(open)?;
        Some(file_number(transaction.depth, u64::from(!self.to_server)))
    }

    /// After a response, in bytes of no message: the next status line may start anywhere, also
    /// inside a line. Matching bytes are kept.
    fn lost_anywhere<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut rest = bytes;
        while let Some((&byte, tail)) = rest.split_first() {
            if self.mine.matched == 0 {
                // A status line starts with no other byte.
                let next = memchr(b'H', rest).unwrap_or(rest.len());
                if next > 0 {
                    let (stray, later) = rest.split_at_checked(next).unwrap_or((rest, &[]));
                    self.stray(stray);
                    rest = later;
                    continue;
                }
                self.mine.began = self.at;
            }
            if !is_of_status_line(self.mine.matched, byte) {
                // `H` is only the first of these bytes, so at most this byte starts a new match.
                let shard = self.queue.shard;
                self.stray_line();
                self.pools.texts.release(&mut self.mine.line, shard);
                if self.mine.matched == 0 {
                    self.stray(&[byte]);
                    rest = tail;
                }
                self.mine.matched = 0;
                continue;
            }
            self.mine.matched = self.mine.matched.wrapping_add(1);
            if self.mine.matched == STATUS_LINE_LEN {
                // The byte after the status is read again with the line.
                let began = self.mine.began;
                self.begin_message();
                self.mine.began = began;
                self.mine.clear(Side::ANYWHERE);
                self.mine.phase = Phase::FirstLine;
                return rest;
            }
            self.hold(&[byte]);
            if self.mine.line.is_empty() {
                // No memory to keep it: `hold` has set the phase.
                return tail;
            }
            rest = tail;
        }
        rest
    }

    /// At the start of a line, or inside a line that may start a message.
    pub(super) fn lost<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let feed = memchr(b'\n', bytes);
        let end = feed.map_or(bytes.len(), |feed| feed.wrapping_add(1));
        let (line, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        if self.mine.line.is_empty() {
            self.mine.clear(Side::LINE_CUT);
            if !self.might_begin(line) {
                self.mine.phase = Phase::LostInLine;
                return bytes;
            }
            if feed.is_some() {
                return self.found_or_not(line, bytes, rest);
            }
            self.mine.began = self.at;
            self.hold_lost(line);
            return rest;
        }
        self.hold_lost(line);
        if feed.is_none() || self.mine.line.is_empty() {
            return rest;
        }
        let mut kept = std::mem::take(&mut self.pools.line);
        kept.clear();
        self.pools.texts.gather(&self.mine.line, &mut kept);
        if self.is_first_line(&kept) && !self.mine.has(Side::LINE_CUT) {
            let began = self.mine.began;
            self.begin_message();
            self.mine.began = began;
            self.mine.phase = Phase::FirstLine;
            self.pools.line = kept;
            self.kept_line();
        } else {
            self.stray(&kept);
            self.pools
                .texts
                .release(&mut self.mine.line, self.queue.shard);
            self.mine.clear(Side::LINE_CUT);
            self.pools.line = kept;
        }
        rest
    }

    /// A whole line within the current bytes.
    fn found_or_not<'b>(&mut self, line: &[u8], all: &'b [u8], rest: &'b [u8]) -> &'b [u8] {
        if line.len() as u64 <= u64::from(self.options.line_bytes_max) && self.is_first_line(line) {
            self.begin_message();
            self.mine.phase = Phase::FirstLine;
            return all;
        }
        self.stray(line);
        rest
    }

    /// Keeps a part of a line that may still start a message.
    fn hold_lost(&mut self, part: &[u8]) {
        let most = self.options.line_bytes_max;
        let room = most.saturating_sub(self.mine.line.len()) as usize;
        let kept = part.get(..room).unwrap_or(part);
        let shard = self.queue.shard;
        let count = self.pools.texts.append(&mut self.mine.line, shard, kept);
        if count < part.len() {
            self.mine.set(Side::LINE_CUT);
        }
        let begin = self.pools.texts.whole(&self.mine.line);
        if begin.is_some_and(|begin| !self.might_begin(begin)) {
            self.stray_line();
            self.pools.texts.release(&mut self.mine.line, shard);
            self.mine.clear(Side::LINE_CUT);
            self.mine.phase = if part.last() == Some(&b'\n') {
                Phase::Lost
            } else {
                Phase::LostInLine
            };
        }
    }

    /// As [`stray`](Self::stray), of the bytes that are kept of a line.
    fn stray_line(&mut self) {
        let number = self.stray_number();
        if let (Some(number), Some(line)) = (number, self.pools.texts.whole(&self.mine.line)) {
            self.sink.stray(number, line);
        }
    }

    fn might_begin(&self, line: &[u8]) -> bool {
        if self.to_server {
            looks_like_request(line)
        } else {
            looks_like_response(line)
        }
    }

    /// Whether a line is certainly the first line of a message.
    pub(super) fn is_first_line(&self, line: &[u8]) -> bool {
        let line = line.trim_ascii_end();
        if self.to_server {
            request_line(line).is_some_and(|found| {
                matches!(found.version, Version::V10 | Version::V11) && !found.odd_method
            })
        } else {
            status_line(line).is_some_and(|found| !found.odd_status)
        }
    }
}
