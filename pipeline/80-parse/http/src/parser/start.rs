//! The bytes before a message, and the first bytes of a response.

use super::turn::Turn;
use crate::anomaly::{Anomalies, Anomaly};
use crate::state::{Framing, NONE, Phase, Side};
use crate::syntax::{ChunkLine, could_begin};
use flowpin_record::MessageSink;

/// Responses start with this, except HTTP/0.9 and Icecast.
const RESPONSE: &[u8] = b"HTTP/";
/// The start of a response that may follow the response to an unseen request.
pub(crate) const NEXT_RESPONSE: &[u8] = b"HTTP/1.";

impl<S: MessageSink> Turn<'_, S> {
    /// Before a message: skips empty lines (RFC 9112 §2.2), blanks and NUL bytes, as some receivers
    /// do.
    #[inline]
    pub(crate) fn between<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        if !self.to_server && bytes.starts_with(RESPONSE) {
            self.begin_message();
            self.mine.phase = Phase::FirstLine;
            return bytes;
        }
        let rest = self.skip_before(bytes);
        let Some(&first) = rest.first() else {
            return rest;
        };
        if self.to_server && self.queue.asked && !first.is_ascii_alphabetic() {
            // The client did not wait for the response, or it was not captured.
            self.hand_over_unanswered();
            return rest;
        }
        self.begin_message();
        if !self.to_server {
            self.mine.phase = Phase::Begin;
            self.mine.matched = 0;
        } else if could_begin(first) {
            self.mine.phase = Phase::FirstLine;
        } else {
            self.no_request(Phase::Lost);
        }
        rest
    }

    /// Skips bytes before a message.
    #[inline]
    fn skip_before<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut rest = bytes;
        while let [first @ (b'\r' | b'\n' | b' ' | b'\t' | 0), tail @ ..] = rest {
            match first {
                // They may belong to a body without a head, or to the protocol in a tunnel.
                _ if !self.to_server && self.is_headless_expected() => break,
                0 if self.to_server && self.queue.asked => break,
                b' ' | b'\t' => self.mine.set(Side::SPACES),
                0 => self.mine.set(Side::NULS),
                _ => {}
            }
            rest = tail;
        }
        rest
    }

    /// Resets the side for its next message.
    #[inline]
    pub(crate) fn begin_message(&mut self) {
        let side = &mut *self.mine;
        side.began = self.at;
        side.framing = Framing::default();
        side.reported = Anomalies::default();
        side.head_len = 0;
        side.body_len = 0;
        side.transaction = NONE;
        side.clear(Side::BODY_CUT | Side::CONTINUED);
        side.chunk = ChunkLine::default();
        for (bit, anomaly) in [
            (Side::SPACES, Anomaly::OddSpaces),
            (Side::NULS, Anomaly::NulByte),
        ] {
            if self.mine.has(bit) {
                self.mine.clear(bit);
                self.report(anomaly);
            }
        }
    }

    /// Keeps the first bytes as long as they may start a response.
    pub(crate) fn begin_response<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let is_music = if self.mine.matched == 0 {
            bytes.first() == Some(&b'I')
        } else {
            self.mine.has(Side::MUSIC)
        };
        self.mine.clear(Side::MUSIC);
        let mut count = 0usize;
        while let Some(&byte) = bytes.get(count)
            && begins_response(is_music, self.mine.matched, byte)
        {
            self.mine.matched = self.mine.matched.wrapping_add(1);
            count = count.wrapping_add(1);
        }
        let (read, rest) = bytes.split_at_checked(count).unwrap_or((bytes, &[]));
        self.hold(read);
        if self.mine.phase != Phase::Begin {
            // No memory to keep them.
            return rest;
        }
        let len = if is_music { MUSIC_LEN } else { RESPONSE_LEN };
        if self.mine.matched == len {
            self.mine.phase = Phase::FirstLine;
        } else if !rest.is_empty() {
            let read = self.take_line();
            self.not_a_response(&read);
            self.pools.line = read;
        } else if is_music {
            self.mine.set(Side::MUSIC);
        }
        rest
    }

    /// Continues a comparison with `expected`, and returns the bytes after the equal ones.
    pub(crate) fn match_on<'b>(&mut self, expected: &[u8], bytes: &'b [u8]) -> &'b [u8] {
        let mut rest = bytes;
        while let Some((first, tail)) = rest.split_first() {
            if expected.get(usize::from(self.mine.matched)) != Some(first) {
                break;
            }
            self.mine.matched = self.mine.matched.wrapping_add(1);
            rest = tail;
        }
        rest
    }
}

const RESPONSE_LEN: u8 = 5;
const MUSIC_LEN: u8 = 4;

/// Whether a response may have this byte at this position. Some receivers accept `http/1.1` (curl),
/// and `HTTP 1.1` is at least meant as a response.
const fn begins_response(is_music: bool, at: u8, byte: u8) -> bool {
    match (is_music, at) {
        (true, 0) => byte == b'I',
        (true, 1) => byte == b'C',
        (true, 2) => byte == b'Y',
        (true, 3) => byte == b' ',
        (false, 0) => byte.eq_ignore_ascii_case(&b'H'),
        (false, 1 | 2) => byte.eq_ignore_ascii_case(&b'T'),
        (false, 3) => byte.eq_ignore_ascii_case(&b'P'),
        (false, 4) => matches!(byte, b'/' | b' ' | b'\t'),
        _ => false,
    }
}

/// `HTTP/1.1 200`, and the byte after it.
pub(super) const STATUS_LINE_LEN: u8 = 13;

/// Whether a regular status line may have this byte at this position.
pub(super) const fn is_of_status_line(at: u8, byte: u8) -> bool {
    match at {
        0 => byte == b'H',
        1 | 2 => byte == b'T',
        3 => byte == b'P',
        4 => byte == b'/',
        5 => byte == b'1',
        6 => byte == b'.',
        7 => byte == b'0' || byte == b'1',
        8 => byte == b' ',
        9 => matches!(byte, b'1'..=b'5'),
        10 | 11 => byte.is_ascii_digit(),
        12 => matches!(byte, b' ' | b'\r' | b'\n'),
        _ => false,
    }
}
