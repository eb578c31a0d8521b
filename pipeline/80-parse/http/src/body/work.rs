//! One body that somebody asked for.

use super::coding::{Encoding, IDENTITY};
use super::decoder::Decoder;
use super::magic::{HEAD_LEN, media_type};
use crate::anomaly::Anomaly;
use crate::options::BodyOptions;
use md5::Md5;
use sha1::{Digest, Sha1};
use sha2::Sha256;
use std::ops::ControlFlow;

/// A body on its way.
#[derive(Debug)]
pub(crate) struct Work {
    decoder: Decoder,
    md5: Option<Md5>,
    sha1: Option<Sha1>,
    sha256: Option<Sha256>,
    head: [u8; HEAD_LEN],
    head_len: u8,
    /// Bytes that came, before decoding.
    raw_len: u64,
    /// Bytes behind decoding.
    pub(crate) len: u64,
    /// Bytes that are missing.
    pub(crate) missing: u64,
    /// Nothing behind an error, a limit or a gap in an encoded body is decoded.
    is_over: bool,
    /// Something is wrong with it.
    pub(crate) is_broken: bool,
    pub(super) shard: u8,
    is_encoded: bool,
}

/// The ratio is looked at whenever so many bytes came: so it does not depend on segments.
const STRIDE: u64 = 256;
/// Bytes that a body may always expand to.
const ALWAYS: u64 = 1 << 16;

impl Work {
    pub(super) fn new(encoding: Encoding, shard: u8, options: &BodyOptions) -> Self {
        let encoding = if options.decode { encoding } else { IDENTITY };
        Self {
            decoder: Decoder::new(encoding),
            md5: options.md5.then(Md5::new),
            sha1: options.sha1.then(Sha1::new),
            sha256: options.sha256.then(Sha256::new),
            head: [0; HEAD_LEN],
            head_len: 0,
            raw_len: 0,
            len: 0,
            missing: 0,
            is_over: false,
            is_broken: false,
            shard,
            is_encoded: encoding != IDENTITY,
        }
    }

    /// The next bytes; what came of them goes to `file`.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        room: &mut [u8],
        options: &BodyOptions,
        file: &mut dyn FnMut(&[u8]),
    ) -> Option<Anomaly> {
        let mut rest = bytes;
        let mut told = None;
        while !rest.is_empty() && !self.is_over {
            let left = STRIDE.wrapping_sub(self.raw_len.checked_rem(STRIDE).unwrap_or(0));
            let count = if self.is_encoded {
                usize::try_from(left).unwrap_or(rest.len()).min(rest.len())
            } else {
                rest.len()
            };
            let (now, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = later;
            if let Some(anomaly) = self.feed_part(now, room, options, file) {
                // What is not encoded at all can still be kept.
                self.is_encoded = !self.decoder.is_plain();
                self.is_over = self.is_encoded || anomaly != Anomaly::EncodingInvalid;
                self.is_broken |= self.is_over;
                told = told.or(Some(anomaly));
            }
        }
        told
    }

    fn feed_part(
        &mut self,
        part: &[u8],
        room: &mut [u8],
        options: &BodyOptions,
        file: &mut dyn FnMut(&[u8]),
    ) -> Option<Anomaly> {
        let mut decoder = std::mem::replace(&mut self.decoder, Decoder::Over);
        let mut too_long = false;
        let most = options.decoded_bytes_max;
        let result = decoder.push(part, room, &mut |made| {
            let left = usize::try_from(most.saturating_sub(self.len)).unwrap_or(usize::MAX);
            let taken = made.get(..left).unwrap_or(made);
            self.take(taken, file);
            too_long = taken.len() < made.len();
            if too_long {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        self.decoder = decoder;
        self.raw_len = self.raw_len.saturating_add(part.len() as u64);
        if result.is_err() {
            return Some(Anomaly::EncodingInvalid);
        }
        if too_long {
            return Some(Anomaly::DecodedTooLong);
        }
        let most = self.raw_len.saturating_mul(u64::from(options.ratio_max));
        let at_stride = self.raw_len.checked_rem(STRIDE) == Some(0);
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

    /// Bytes are missing: what is encoded cannot be decoded any further.
    pub(super) fn gap(&mut self, len: u64) {
        self.missing = self.missing.saturating_add(len);
        self.is_broken = true;
        self.is_over |= self.is_encoded;
    }

    /// No more bytes come.
    pub(super) fn finish(&mut self, file: &mut dyn FnMut(&[u8])) {
        let kept = self.decoder.undecided().to_vec();
        if !kept.is_empty() {
            self.take(&kept, file);
        }
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

fn hex<const N: usize>(bytes: &[u8]) -> [u8; N] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| DIGITS.get(usize::from(half & 15)).copied().unwrap_or(b'0');
    let mut text = [b'0'; N];
    for (two, &byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *two = [digit(byte >> 4), digit(byte)];
    }
    text
}
