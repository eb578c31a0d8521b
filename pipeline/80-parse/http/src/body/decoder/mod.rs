//! Decoders of bodies: they process each segment's bytes, and never output more than a buffer at
//! once.

mod begin;
mod brotli;
mod checksum;
mod deflate;
mod gzip;
mod zlib;
mod zstd;

use super::layers::{BROTLI, DEFLATE, Encoding, GZIP, IDENTITY, ZSTD};
use crate::anomaly::{Anomalies, Anomaly};
use brotli::Brotli;
use deflate::{Progress, inflate};
use flate2::Decompress;
use gzip::Gzip;
use std::ops::ControlFlow;
use zlib::Zlib;
use zstd::Zstd;

/// The decoder of one body.
pub(super) enum Decoder {
    /// Passes bytes on unchanged.
    Plain,
    /// The first bytes decide the real format; they are kept until then.
    Begin(Encoding, Vec<u8>),
    Gzip(Box<Gzip>),
    Zlib(Box<Zlib>),
    /// Without a frame.
    Deflate(Box<Decompress>),
    Brotli(Box<Brotli>),
    Zstd(Box<Zstd>),
    /// The end was reached: further bytes are ignored.
    Over,
}

/// The memory of a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) base: u64,
    /// The maximum of decoded bytes that it keeps.
    pub(super) window: u64,
}

/// With its window of 32 KiB.
const INFLATE_BYTES: u64 = 48 << 10;
/// Tables and buffers.
const BROTLI_BYTES: u64 = 128 << 10;
/// RFC 7932 §9.1: the largest of its windows.
const BROTLI_WINDOW_LOG: u32 = 24;
/// First bytes that contain the size of a window.
pub(super) const BEGIN_LEN: usize = 6;
/// Tables, and a block each of input and output.
const ZSTD_BYTES: u64 = 416 << 10;

/// The body is not in its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Invalid;

/// Takes decoded bytes, and may stop the decoder.
pub(super) type Out<'a> = dyn FnMut(&[u8]) -> ControlFlow<()> + 'a;

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Plain => "Plain",
            Self::Begin(..) => "Begin",
            Self::Gzip(_) => "Gzip",
            Self::Zlib(_) => "Zlib",
            Self::Deflate(_) => "Deflate",
            Self::Brotli(_) => "Brotli",
            Self::Zstd(_) => "Zstd",
            Self::Over => "Over",
        })
    }
}

impl Decoder {
    pub(super) fn new(encoding: Encoding) -> Self {
        match encoding {
            IDENTITY => Self::Plain,
            GZIP | DEFLATE | BROTLI | ZSTD => Self::Begin(encoding, Vec::new()),
            _ => Self::Plain,
        }
    }

    /// Decodes `input` through the buffer `room` to `out`, until that stops it. Anomalies that do
    /// not end the body are added to `told`.
    pub(super) fn push(
        &mut self,
        input: &[u8],
        room: &mut [u8],
        out: &mut Out<'_>,
        told: &mut Anomalies,
    ) -> Result<(), Invalid> {
        match self {
            Self::Plain => {
                let _ = out(input);
                Ok(())
            }
            Self::Over => Ok(()),
            Self::Begin(encoding, begin) => {
                begin.extend_from_slice(input);
                let Some(decoder) = begin::decoder(*encoding, begin, false) else {
                    return Ok(());
                };
                let begin = std::mem::take(begin);
                *self = decoder;
                self.push_first(&begin, (room, false), out, told)
            }
            Self::Gzip(gzip) => gzip.push(input, room, out, told),
            Self::Zlib(zlib) => zlib.push(input, room, out, told),
            Self::Deflate(decompress) => {
                if !matches!(inflate(decompress, input, room, out)?, Progress::Goes) {
                    *self = Self::Over;
                }
                Ok(())
            }
            Self::Brotli(brotli) => brotli.push(input, room, out),
            Self::Zstd(zstd) => {
                if !zstd.push(input, room, out)? {
                    told.add(Anomaly::ChecksumWrong);
                    *self = Self::Over;
                }
                Ok(())
            }
        }
    }

    /// Decodes the bytes that it held back, at the end of the body.
    pub(super) fn finish(
        &mut self,
        room: &mut [u8],
        out: &mut Out<'_>,
        told: &mut Anomalies,
    ) -> Result<(), Invalid> {
        match self {
            Self::Brotli(brotli) => brotli.finish(room, out),
            Self::Begin(encoding, begin) => {
                let Some(decoder) = begin::decoder(*encoding, begin, true) else {
                    return Ok(());
                };
                let begin = std::mem::take(begin);
                *self = decoder;
                self.push_first(&begin, (room, true), out, told)
            }
            _ => Ok(()),
        }
    }

    /// The memory of a decoder, with the largest window.
    pub(super) const fn cost(encoding: Encoding) -> Cost {
        let (base, window) = match encoding {
            GZIP | DEFLATE => (INFLATE_BYTES, 0),
            BROTLI => (BROTLI_BYTES, 1 << BROTLI_WINDOW_LOG),
            ZSTD => (ZSTD_BYTES, 1 << zstd::WINDOW_LOG),
            _ => (0, 0),
        };
        Cost { base, window }
    }

    /// The size of its window by the first bytes of the body. `is_next`: a frame has ended.
    pub(super) fn window(&self, begin: &[u8], is_next: bool) -> u64 {
        match self {
            Self::Brotli(_) | Self::Begin(BROTLI, _) => {
                begin.first().map(|&first| 1 << brotli_window_log(first))
            }
            Self::Zstd(_) if is_next => None,
            Self::Zstd(_) | Self::Begin(ZSTD, _) => zstd_window(begin),
            _ => Some(0),
        }
        .unwrap_or(u64::MAX)
    }

    /// Whether a frame has ended.
    pub(super) const fn has_ended_frame(&self) -> bool {
        matches!(self, Self::Zstd(zstd) if zstd.has_ended)
    }

    /// Whether the format continues after the bytes so far, of which there are some.
    pub(super) const fn is_inside(&self) -> bool {
        match self {
            Self::Plain | Self::Begin(..) | Self::Over => false,
            Self::Gzip(gzip) => gzip.is_inside(),
            Self::Zlib(zlib) => zlib.is_inside(),
            Self::Deflate(_) => true,
            Self::Brotli(brotli) => brotli.is_inside(),
            Self::Zstd(zstd) => zstd.is_inside(),
        }
    }

    /// Whether bytes are passed on unchanged, even if they should have been encoded.
    pub(super) const fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// Takes the first bytes, if they were too few to decide the format.
    pub(super) fn take_undecided(&mut self) -> Vec<u8> {
        match self {
            Self::Begin(_, begin) => std::mem::take(begin),
            _ => Vec::new(),
        }
    }
}

/// RFC 7932 §9.1, by the first byte.
fn brotli_window_log(first: u8) -> u32 {
    match (first & 1, first >> 1 & 7, first >> 4 & 7) {
        (0, ..) => 16,
        (_, 0, 0) => 17,
        // One of these values is invalid: the decoder refuses the body.
        (_, 0, low) => u32::from(low).wrapping_add(8),
        (_, high, _) => u32::from(high).wrapping_add(17),
    }
}

/// RFC 8878 §3.1.1: magic number, descriptor, and a window, unless the frame is one segment.
fn zstd_window(begin: &[u8]) -> Option<u64> {
    let &[0x28, 0xb5, 0x2f, 0xfd, descriptor, window] = begin.first_chunk::<BEGIN_LEN>()? else {
        return None;
    };
    let base = 1u64.wrapping_shl(u32::from(window >> 3).wrapping_add(10));
    let eighths = (base >> 3).wrapping_mul(u64::from(window & 7));
    (descriptor & 0x20 == 0).then_some(base.wrapping_add(eighths))
}
