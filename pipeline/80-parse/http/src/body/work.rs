//! One body that somebody asked for.

use super::coding::{Encoding, Encodings, IDENTITY, Layers};
use super::decoder::{BEGIN_LEN, Cost, Decoder};
use super::magic::{HEAD_LEN, media_type};
use super::transfer::Transfer;
use crate::anomaly::{Anomalies, Anomaly};
use crate::options::BodyOptions;
use flowpin_record::Value;
use md5::Md5;
use sha1::{Digest, Sha1};
use sha2::Sha256;
use std::ops::ControlFlow;

/// A body on its way.
#[derive(Debug)]
pub(crate) struct Work {
    /// What is undone before the last coding.
    transfer: Option<Transfer>,
    decoder: Decoder,
    md5: Option<Md5>,
    sha1: Option<Sha1>,
    sha256: Option<Sha256>,
    head: [u8; HEAD_LEN],
    head_len: u8,
    /// Bytes that came, before decoding.
    pub(super) raw_len: u64,
    /// Bytes that came before a transfer coding was undone, if there was one.
    pub(super) wire_len: Option<u64>,
    /// Bytes behind decoding.
    pub(crate) len: u64,
    /// Bytes that are missing.
    pub(crate) missing: u64,
    /// Nothing behind an error, a limit or a gap in an encoded body is decoded.
    is_over: bool,
    /// Something is wrong with it.
    pub(crate) is_broken: bool,
    /// Its encoding goes on behind its last byte.
    pub(crate) is_inside: bool,
    /// What is odd about it: told once it is over, in an order that does not depend on pieces.
    pub(crate) told: Anomalies,
    /// Its shard had no memory for more of it.
    pub(crate) no_room: bool,
    /// Which of its connection's files it is.
    pub(crate) number: u64,
    pub(super) shard: u8,
    /// Its bytes are handed on.
    pub(super) is_file: bool,
    /// Bytes of it that its shard was not to hand on any more.
    pub(crate) left_out: u64,
    is_encoded: bool,
    encoding: Encoding,
    decoder_cost: Cost,
    /// The first bytes as they came.
    begin: [u8; BEGIN_LEN],
    is_next_frame: bool,
    /// Bytes of gaps that its file has as zeros.
    filled: u64,
}

/// What a body takes besides its decoder: hashes, and the bytes of its file that are gathered.
const BODY_BYTES: u64 = 1 << 10;
const FILE_BYTES: u64 = 16 << 10;
/// Of a gap a file has no more.
const FILLED_MAX: u64 = 1 << 20;

/// The ratio is looked at whenever so many bytes came: so it does not depend on segments.
pub(super) const STRIDE: u64 = 256;
/// Bytes that a body may always expand to.
const ALWAYS: u64 = 1 << 16;

impl Work {
    pub(super) fn new(encodings: Encodings, number: u64, shard: u8, options: &BodyOptions) -> Self {
        Self::of(encodings.undone(options.decode), number, shard, options)
    }

    /// A body from which these codings are undone.
    pub(super) fn of(layers: Layers, number: u64, shard: u8, options: &BodyOptions) -> Self {
        let (encoding, others) = layers.split_first();
        Self {
            transfer: (!others.is_empty()).then(|| Transfer::new(others)),
            decoder: Decoder::new(encoding),
            md5: options.md5.then(Md5::new),
            sha1: options.sha1.then(Sha1::new),
            sha256: options.sha256.then(Sha256::new),
            head: [0; HEAD_LEN],
            head_len: 0,
            raw_len: 0,
            wire_len: None,
            len: 0,
            missing: 0,
            is_over: false,
            is_broken: false,
            is_inside: false,
            told: Anomalies::default(),
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
        }
    }

    /// Memory that a body takes from the beginning.
    pub(super) fn least_cost(encodings: Encodings, options: &BodyOptions) -> u64 {
        let (content, others) = encodings.undone(options.decode).split_first();
        Self::bare_cost(options)
            .saturating_add(Transfer::least_cost(others))
            .saturating_add(Decoder::cost(content).base)
    }

    /// What a decoder of other codings takes: with all of its window, because nobody asks for room
    /// while it is filled.
    pub(super) fn cost_below(&self) -> u64 {
        let own = if self.is_over {
            BODY_BYTES
        } else {
            Self::cost_of(self.encoding)
        };
        let transfer = self.transfer.as_ref().map_or(0, Transfer::cost);
        own.saturating_add(transfer)
    }

    /// As [`Work::cost_below`], of one coding at its beginning.
    pub(super) const fn cost_of(encoding: Encoding) -> u64 {
        let Cost { base, window } = Decoder::cost(encoding);
        BODY_BYTES.saturating_add(base).saturating_add(window)
    }

    /// Bytes that came, before anything was undone.
    pub(super) fn came(&self) -> u64 {
        self.transfer.as_ref().map_or(self.raw_len, Transfer::came)
    }

    const fn bare_cost(options: &BodyOptions) -> u64 {
        let file = if options.files { FILE_BYTES } else { 0 };
        BODY_BYTES.saturating_add(file)
    }

    /// Memory that it takes now.
    pub(super) fn cost(&self, options: &BodyOptions) -> u64 {
        let Cost { base, window } = self.decoder_cost;
        let kept = window.min(self.len);
        let transfer = self.transfer.as_ref().map_or(0, Transfer::cost);
        Self::bare_cost(options)
            .saturating_add(transfer)
            .saturating_add(base)
            .saturating_add(kept)
    }

    /// Remembers the first bytes.
    fn note_begin(&mut self, bytes: &[u8]) {
        let at = usize::try_from(self.raw_len).unwrap_or(usize::MAX);
        for (place, &byte) in self.begin.iter_mut().skip(at).zip(bytes) {
            *place = byte;
        }
    }

    /// Learns what its decoder keeps, before that is shown more bytes than `raw_len`.
    fn learn_window(&mut self, raw_len: u64) {
        let known = usize::try_from(raw_len).unwrap_or(usize::MAX);
        let begin = self.begin.get(..known).unwrap_or(&self.begin);
        let most = Decoder::cost(self.encoding).window;
        self.decoder_cost.window = self.decoder.window(begin, self.is_next_frame).min(most);
    }

    /// Nothing more is made of it: its decoder's memory is given back.
    pub(super) fn give_up(&mut self) {
        self.is_over = true;
        self.is_broken = true;
        self.decoder = Decoder::Over;
        self.decoder_cost = Decoder::cost(IDENTITY);
    }

    /// Whether nothing more is made of it.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// The next bytes, through `space`; what came of them goes to `file`. `room`: memory that it
    /// may take beyond what it has.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        (space, room): (&mut [u8], u64),
        options: &BodyOptions,
        file: &mut dyn FnMut(&[u8]),
    ) {
        match self.transfer.take() {
            None => self.feed_content(bytes, (space, room), options, file),
            Some(mut transfer) => {
                transfer.feed(self, bytes, (space, room), options, file);
                self.transfer = Some(transfer);
            }
        }
    }

    /// As [`Work::feed`], once a transfer coding is undone.
    pub(super) fn feed_content(
        &mut self,
        bytes: &[u8],
        (space, room): (&mut [u8], u64),
        options: &BodyOptions,
        file: &mut dyn FnMut(&[u8]),
    ) {
        let by_memory = self.len.saturating_add(room);
        let mut rest = bytes;
        while !rest.is_empty() && !self.is_over {
            let left = STRIDE.wrapping_sub(self.raw_len.checked_rem(STRIDE).unwrap_or(0));
            let count = if self.is_encoded {
                usize::try_from(left).unwrap_or(rest.len()).min(rest.len())
            } else {
                rest.len()
            };
            let (now, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = later;
            self.note_begin(now);
            self.learn_window(self.raw_len.saturating_add(now.len() as u64));
            self.feed_part(Some(now), (space, by_memory), options, file);
        }
    }

    /// The next bytes, or that no more come. What its decoder makes of it, or a limit, may end it.
    fn feed_part(
        &mut self,
        part: Option<&[u8]>,
        (space, by_memory): (&mut [u8], u64),
        options: &BodyOptions,
        file: &mut dyn FnMut(&[u8]),
    ) {
        let by_file = options.decoded_bytes_max.saturating_sub(self.filled);
        let is_memory = by_memory < by_file.min(self.decoder_cost.window);
        let len_max = if is_memory { by_memory } else { by_file };
        let Some(anomaly) = self.decode(part, (space, len_max), options, file) else {
            return;
        };
        if is_memory && anomaly == Anomaly::DecodedTooLong {
            self.no_room = true;
            return self.give_up();
        }
        // What is not encoded at all can still be kept.
        self.is_encoded = !self.decoder.is_plain();
        if self.is_encoded || anomaly != Anomaly::EncodingInvalid {
            self.give_up();
        }
        self.told.add(anomaly);
    }

    fn decode(
        &mut self,
        part: Option<&[u8]>,
        (space, len_max): (&mut [u8], u64),
        options: &BodyOptions,
        file: &mut dyn FnMut(&[u8]),
    ) -> Option<Anomaly> {
        let mut decoder = std::mem::replace(&mut self.decoder, Decoder::Over);
        let mut too_long = false;
        let mut told = self.told;
        let mut out = |made: &[u8]| {
            let left = usize::try_from(len_max.saturating_sub(self.len)).unwrap_or(usize::MAX);
            let taken = made.get(..left).unwrap_or(made);
            self.take(taken, file);
            too_long = taken.len() < made.len();
            if too_long {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let result = match part {
            Some(part) => decoder.push(part, space, &mut out, &mut told),
            None => decoder.finish(space, &mut out, &mut told),
        };
        self.told = told;
        self.decoder = decoder;
        let len = part.map_or(0, <[u8]>::len);
        self.raw_len = self.raw_len.saturating_add(len as u64);
        if result.is_err() {
            return Some(Anomaly::EncodingInvalid);
        }
        if too_long {
            return Some(Anomaly::DecodedTooLong);
        }
        let came = self.wire_len.unwrap_or(self.raw_len);
        let most = came.saturating_mul(u64::from(options.ratio_max));
        let at_stride = self.raw_len.checked_rem(STRIDE) == Some(0);
        self.is_next_frame |= at_stride && self.decoder.has_ended_frame();
        (self.is_encoded && at_stride && self.len > most.max(ALWAYS))
            .then_some(Anomaly::ExpandsTooMuch)
    }

    fn take(&mut self, bytes: &[u8], file: &mut dyn FnMut(&[u8])) {
        let begin = usize::from(self.head_len);
        for (place, &byte) in self.head.iter_mut().skip(begin).zip(bytes) {
            *place = byte;
            self.head_len = self.head_len.wrapping_add(1);
        }
        if let Some(hash) = &mut self.md5 {
            hash.update(bytes);
        }
        if let Some(hash) = &mut self.sha1 {
            hash.update(bytes);
        }
        if let Some(hash) = &mut self.sha256 {
            hash.update(bytes);
        }
        self.len = self.len.saturating_add(bytes.len() as u64);
        file(bytes);
    }

    /// Bytes are missing: what is encoded cannot be decoded any further. How many zeros its file
    /// has for them.
    pub(super) fn gap(&mut self, len: u64, options: &BodyOptions) -> u64 {
        self.missing = self.missing.saturating_add(len);
        self.is_broken = true;
        if let Some(transfer) = &mut self.transfer {
            transfer.give_up();
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

    /// No more bytes come.
    pub(super) fn finish(
        &mut self,
        space: (&mut [u8], u64),
        options: &BodyOptions,
        file: &mut dyn FnMut(&[u8]),
    ) {
        self.flush(space, options, file);
        self.is_inside |= self.raw_len > 0 && self.decoder.is_inside();
    }

    /// Makes what it can of the bytes that decoders hold, because those behind do not come.
    pub(super) fn flush(
        &mut self,
        (space, room): (&mut [u8], u64),
        options: &BodyOptions,
        file: &mut dyn FnMut(&[u8]),
    ) {
        if let Some(transfer) = self.transfer.take() {
            let half = space.len() >> 1;
            let (above, below) = space.split_at_mut_checked(half).unwrap_or_default();
            let work = transfer.finish(below, options, &mut |made| {
                self.feed_content(made, (&mut *above, room), options, file);
            });
            self.is_broken |= work.is_broken;
            work.told.iter().for_each(|anomaly| {
                self.told.add(anomaly);
            });
            self.is_inside |= work.is_inside;
            self.no_room |= work.no_room;
        }
        if !self.is_over {
            let by_memory = self.len.saturating_add(room);
            self.feed_part(None, (space, by_memory), options, file);
        }
        let kept = self.decoder.take_undecided();
        if !kept.is_empty() {
            self.take(&kept, file);
        }
    }

    /// Whether any of its bytes were handed on.
    pub(crate) const fn is_stored(&self) -> bool {
        self.is_file && self.left_out < self.len
    }

    pub(crate) fn media_type(&self) -> Option<&'static str> {
        media_type(self.head.get(..usize::from(self.head_len))?)
    }

    /// The hashes that were asked for, of all bytes.
    pub(crate) fn hashes(&mut self) -> Hashes {
        Hashes {
            md5: self.md5.take().map(|hash| hex(&hash.finalize())),
            sha1: self.sha1.take().map(|hash| hex(&hash.finalize())),
            sha256: self.sha256.take().map(|hash| hex(&hash.finalize())),
        }
    }
}

/// Hashes in hexadecimal digits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hashes {
    pub(crate) md5: Option<[u8; 32]>,
    pub(crate) sha1: Option<[u8; 40]>,
    pub(crate) sha256: Option<[u8; 64]>,
}

impl Hashes {
    /// MD5, SHA-1, SHA-256, as far as they were asked for.
    pub(crate) fn values(&self) -> [Value<'_>; 3] {
        fn value(hash: Option<&[u8]>) -> Value<'_> {
            hash.map_or(Value::Unset, Value::bytes)
        }
        [
            value(self.md5.as_ref().map(<[u8; 32]>::as_slice)),
            value(self.sha1.as_ref().map(<[u8; 40]>::as_slice)),
            value(self.sha256.as_ref().map(<[u8; 64]>::as_slice)),
        ]
    }
}

fn hex<const N: usize>(bytes: &[u8]) -> [u8; N] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| DIGITS.get(usize::from(half & 15)).copied().unwrap_or(b'0');
    let mut text = [b'0'; N];
    for (two, &byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *two = [digit(byte >> 4), digit(byte)];
    }
    text
}
