//! One direction's next bytes, phase by phase.

use super::Pools;
use crate::anomaly::{Anomalies, Anomaly};
use crate::options::HttpOptions;
use crate::state::{Framing, NONE, Phase, Queue, Side};
use crate::syntax::{ChunkLine, could_begin};
use flowpin_packet::Timestamp;
use flowpin_record::MessageSink;

/// Whose turn it is: the side that sends, the other, and what they share.
pub(super) struct Turn<'a, S> {
    pub(super) mine: &'a mut Side,
    pub(super) theirs: &'a mut Side,
    pub(super) queue: &'a mut Queue,
    pub(super) pools: &'a mut Pools,
    pub(super) options: &'a HttpOptions,
    pub(super) sink: &'a mut S,
    pub(super) at: Timestamp,
    pub(super) to_server: bool,
}

/// Each response begins so, but for those of HTTP/0.9 and of servers of streamed music.
const RESPONSE: &[u8] = b"HTTP/";
/// Responses that may follow one to a request that was not seen.
pub(super) const NEXT_RESPONSE: &[u8] = b"HTTP/1.";

impl<S: MessageSink> Turn<'_, S> {
    /// Reads; how many bytes were HTTP.
    pub(super) fn run(&mut self, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.mine.phase {
                Phase::Between => self.between(rest),
                Phase::FirstLine | Phase::Fields | Phase::Trailer => self.head(rest),
                Phase::Counted => self.counted(rest),
                Phase::ChunkLine => self.chunk_line(rest),
                Phase::ChunkData => self.chunk_data(rest),
                Phase::ChunkEnd => self.chunk_end(rest),
                Phase::UntilClose => self.until_close(rest),
                Phase::Begin => self.begin_response(rest),
                Phase::MaybeFields => self.maybe_fields(rest),
                Phase::MaybeBody => self.maybe_body(rest),
                Phase::MaybeOmitted => self.maybe_omitted(rest),
                Phase::Lost => self.lost(rest),
                Phase::LostInLine => self.lost_in_line(rest),
                Phase::HandedOver => break,
                Phase::Closed => &[],
            };
        }
        bytes.len().wrapping_sub(rest.len())
    }

    /// Before a message: empty lines are skipped (RFC 9112 §2.2), and what else some receivers
    /// skip:
    /// blanks, and NUL bytes.
    #[inline]
    fn between<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
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
            // Nobody waited for the answer, or it was not captured.
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
            self.sink.fits(false);
            self.tell(Anomaly::NotARequest);
            self.lose(Phase::Lost);
        }
        rest
    }

    /// Without what stands before a message.
    #[inline]
    fn skip_before<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut rest = bytes;
        while let [first @ (b'\r' | b'\n' | b' ' | b'\t' | 0), tail @ ..] = rest {
            match first {
                // A body without a head has them, too; so has what a tunnel carries.
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

    /// Forgets the message before.
    #[inline]
    pub(super) fn begin_message(&mut self) {
        let side = &mut *self.mine;
        side.began = self.at;
        side.framing = Framing::default();
        side.told = Anomalies::default();
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
                self.tell(anomaly);
            }
        }
    }

    /// The first bytes of a response, as long as they could be: they are kept.
    fn begin_response<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
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
            // There was no memory to keep it.
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

    /// Goes on comparing: what is left behind the bytes that are equal.
    pub(super) fn match_on<'b>(&mut self, expected: &[u8], bytes: &'b [u8]) -> &'b [u8] {
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

    /// Tells an anomaly, once for each message.
    #[inline]
    pub(super) fn tell(&mut self, anomaly: Anomaly) {
        if self.mine.told.add(anomaly) {
            self.sink.anomaly(anomaly.name());
        }
    }
}

const RESPONSE_LEN: u8 = 5;
const MUSIC_LEN: u8 = 4;

/// Whether a response may have a byte at one of its first places. Some receivers take `http/1.1`
/// (curl), and `HTTP 1.1` is at least meant as a response.
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
