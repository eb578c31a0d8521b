//! One direction's next bytes, phase by phase.

use super::Pools;
use crate::anomaly::{Anomalies, Anomaly};
use crate::options::HttpOptions;
use crate::state::{Framing, NONE, Phase, Queue, Side};
use crate::syntax::ChunkLine;
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
const MUSIC: &[u8] = b"ICY ";
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

    /// Before a message: empty lines are skipped (RFC 9112 §2.2).
    #[inline]
    fn between<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut rest = bytes;
        while let [first @ (b'\r' | b'\n' | b' ' | b'\t'), tail @ ..] = rest {
            if matches!(first, b' ' | b'\t') {
                if !self.to_server {
                    // It could be a body without a head.
                    break;
                }
                self.mine.set(Side::SPACES);
            }
            rest = tail;
        }
        let Some(first) = rest.first() else {
            return rest;
        };
        if self.to_server && self.queue.asked && !first.is_ascii_alphabetic() {
            // Nobody waited for the answer, or it was not captured.
            self.hand_over_unanswered();
            return rest;
        }
        self.begin_message();
        if !self.to_server {
            if rest.starts_with(RESPONSE) {
                self.mine.phase = Phase::FirstLine;
                return rest;
            }
            self.mine.phase = Phase::Begin;
            self.mine.matched = 0;
            return rest;
        }
        if first.is_ascii_alphabetic() {
            self.mine.phase = Phase::FirstLine;
        } else {
            self.tell(Anomaly::NotARequest);
            self.lose(Phase::Lost);
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
        if side.has(Side::SPACES) {
            side.clear(Side::SPACES);
            self.tell(Anomaly::OddSpaces);
        }
    }

    /// The first bytes of a response, as long as they could be.
    fn begin_response<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let is_music = if self.mine.matched == 0 {
            bytes.first() == MUSIC.first()
        } else {
            self.mine.has(Side::TO_CLOSE)
        };
        self.mine.clear(Side::TO_CLOSE);
        let expected = if is_music { MUSIC } else { RESPONSE };
        let rest = self.match_on(expected, bytes);
        let matched = usize::from(self.mine.matched);
        if matched == expected.len() {
            self.mine.phase = Phase::FirstLine;
            self.hold(expected);
        } else if !rest.is_empty() {
            let read = expected.get(..matched).unwrap_or_default();
            self.not_a_response(read);
        } else if is_music {
            self.mine.set(Side::TO_CLOSE);
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
