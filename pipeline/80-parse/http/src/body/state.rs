//! One body that is decoded, hashed or written: its state between two segments.

use super::Context;
use super::decoder::{BEGIN_LEN, Cost, Decoder};
use super::layers::{Encoding, Encodings, IDENTITY, Layers};
use super::outer::OuterCodings;
use super::parts::Form;
use crate::anomaly::Anomalies;
use crate::options::BodyOptions;
use flowpin_content::{HEAD_LEN, Hashers, media_type};
use flowpin_packet::Timestamp;

/// A body of which bytes are still to come.
#[derive(Debug)]
pub(crate) struct BodyState {
    /// The codings that are undone before the last one.
    pub(super) outer: Option<OuterCodings>,
    pub(super) decoder: Decoder,
    pub(super) hashers: Hashers,
    /// The parts of a form.
    pub(super) form: Option<Box<Form>>,
    /// The first decoded bytes.
    pub(super) head: [u8; HEAD_LEN],
    pub(super) head_len: u8,
    /// Bytes before decoding.
    pub(super) raw_len: u64,
    /// Bytes before outer codings were undone, if there are any.
    pub(super) wire_len: Option<u64>,
    /// Bytes after decoding.
    pub(super) len: u64,
    /// Bytes that are missing in the capture.
    pub(super) missing: u64,
    /// Further bytes are ignored: after an error, a limit, or a gap in an encoded body.
    pub(super) is_over: bool,
    /// The decoded bytes are not all of the body.
    pub(super) is_broken: bool,
    /// The encoding did not end with the last byte.
    pub(super) is_inside: bool,
    /// Reported when the body is over, in an order that does not depend on segments.
    pub(super) anomalies: Anomalies,
    /// The shard had no memory for the rest.
    pub(super) no_room: bool,
    /// Which of its connection's files it is.
    pub(super) number: u64,
    pub(super) shard: u8,
    /// The sink gets its bytes.
    pub(super) is_file: bool,
    /// Bytes dropped by the shard's file quota.
    pub(super) left_out: u64,
    pub(super) is_encoded: bool,
    pub(super) encoding: Encoding,
    pub(super) decoder_cost: Cost,
    /// The first bytes before decoding.
    pub(super) begin: [u8; BEGIN_LEN],
    pub(super) is_next_frame: bool,
    /// Zeros in its file for bytes that are missing.
    pub(super) filled: u64,
    /// When its first bytes were captured, and its last ones.
    pub(super) times: Option<[Timestamp; 2]>,
}

/// A file gets at most this many zeros for one gap.
const FILLED_MAX: u64 = 1 << 20;

/// The expansion ratio is checked whenever this many bytes were decoded, so that the result does
/// not depend on segments.
pub(super) const STRIDE: u64 = 256;
/// A body may always expand to this length.
const ALWAYS: u64 = 1 << 16;

impl BodyState {
    pub(super) fn new(encodings: Encodings, number: u64, shard: u8, options: &BodyOptions) -> Self {
        Self::of(
            encodings.undone(options.are_decoded()),
            number,
            shard,
            options,
        )
    }

    /// A body from which these codings are undone.
    pub(super) fn of(layers: Layers, number: u64, shard: u8, options: &BodyOptions) -> Self {
        let (encoding, outer) = layers.split_first();
        Self {
            outer: (!outer.is_empty()).then(|| OuterCodings::new(outer)),
            decoder: Decoder::new(encoding),
            hashers: Hashers::new(options.hashes()),
            form: None,
            head: [0; HEAD_LEN],
            head_len: 0,
            raw_len: 0,
            wire_len: None,
            len: 0,
            missing: 0,
            is_over: false,
            is_broken: false,
            is_inside: false,
            anomalies: Anomalies::default(),
            no_room: false,
            number,
            shard,
            is_file: false,
            left_out: 0,
            is_encoded: encoding != IDENTITY,
            encoding,
            decoder_cost: Decoder::cost(encoding),
            begin: [0; BEGIN_LEN],
            is_next_frame: false,
            filled: 0,
            times: None,
        }
    }

    /// Some of its bytes were captured now.
    pub(super) fn see(&mut self, at: Timestamp) {
        let [_, last] = self.times.get_or_insert([at; 2]);
        *last = at;
    }

    /// Bytes before anything was decoded.
    pub(super) fn sent_len(&self) -> u64 {
        let outer = self.outer.as_ref();
        outer.map_or(self.raw_len, OuterCodings::sent_len)
    }

    /// Keeps the first bytes before decoding.
    pub(super) fn keep_first_bytes(&mut self, bytes: &[u8]) {
        let at = usize::try_from(self.raw_len).unwrap_or(usize::MAX);
        for (place, &byte) in self.begin.iter_mut().skip(at).zip(bytes) {
            *place = byte;
        }
    }

    /// The decoder, for a call that also changes the rest of the state.
    pub(super) const fn take_decoder(&mut self) -> Decoder {
        core::mem::replace(&mut self.decoder, Decoder::Over)
    }

    /// Whether decoded bytes are too many for the bytes that were sent.
    pub(super) fn expands_too_much(&mut self, options: &BodyOptions) -> bool {
        let sent = self.wire_len.unwrap_or(self.raw_len);
        let most = sent.saturating_mul(u64::from(options.ratio_max));
        let at_stride = self.raw_len.checked_rem(STRIDE) == Some(0);
        self.is_next_frame |= at_stride && self.decoder.has_ended_frame();
        self.is_encoded && at_stride && self.len > most.max(ALWAYS)
    }

    /// Ignores all further bytes, and frees the decoder's memory.
    pub(super) fn give_up(&mut self) {
        self.is_over = true;
        self.is_broken = true;
        self.decoder = Decoder::Over;
        self.decoder_cost = Decoder::cost(IDENTITY);
    }

    /// Accounts for missing bytes, after which an encoded body cannot be decoded. Returns how many
    /// zeros its file gets for them.
    pub(super) fn gap(&mut self, len: u64, options: &BodyOptions) -> u64 {
        self.missing = self.missing.saturating_add(len);
        self.is_broken = true;
        if let Some(outer) = &mut self.outer {
            outer.give_up();
            self.give_up();
        }
        if self.is_encoded {
            self.give_up();
        }
        if self.is_over {
            return 0;
        }
        let there = self.len.saturating_add(self.filled);
        let zeros = len
            .min(FILLED_MAX)
            .min(options.decoded_bytes_max.saturating_sub(there));
        self.filled = self.filled.saturating_add(zeros);
        zeros
    }

    /// The body has ended.
    pub(super) fn finish(&mut self, context: &mut Context<'_>) {
        self.flush(context);
        if let Some(form) = &mut self.form {
            form.finish(context.output);
        }
        self.is_inside |= self.raw_len > 0 && self.decoder.is_inside();
    }

    /// Decodes the bytes that decoders hold back, because the next ones are missing.
    pub(super) fn flush(&mut self, context: &mut Context<'_>) {
        if let Some(outer) = self.outer.take() {
            let outer = outer.finish(self, context);
            self.is_broken |= outer.is_broken;
            outer.anomalies.iter().for_each(|anomaly| {
                self.anomalies.add(anomaly);
            });
            self.is_inside |= outer.is_inside;
            self.no_room |= outer.no_room;
        }
        if !self.is_over {
            self.feed_part(None, context);
        }
        let undecided = self.decoder.take_undecided();
        if !undecided.is_empty() {
            self.take(&undecided, context.output);
        }
    }

    /// Whether the sink got any of its bytes.
    pub(super) const fn is_stored(&self) -> bool {
        self.is_file && self.left_out < self.len
    }

    /// The media type that its first bytes show.
    pub(super) fn media_type(&self) -> Option<&'static str> {
        media_type(self.head.get(..usize::from(self.head_len))?)
    }
}
