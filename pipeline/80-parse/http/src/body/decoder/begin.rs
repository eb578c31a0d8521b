//! The real coding of a body, by its first bytes: some headers are wrong.
//!
//! Servers send raw deflate instead of zlib (RFC 9110 §8.4.1.2), label gzip as deflate, and label
//! plain bytes as anything. Plain bytes are passed on unchanged.

use super::brotli::Brotli;
use super::gzip::Gzip;
use super::zlib::Zlib;
use super::zstd::Zstd;
use super::{Decoder, Invalid, Out, Progress, inflate};
use crate::anomaly::Anomalies;
use crate::body::layers::{BROTLI, DEFLATE, Encoding, GZIP, ZSTD};
use flate2::Decompress;
use std::ops::ControlFlow;

/// Formats without a magic number are tried on this many bytes, or on all if there are fewer.
/// Limits are checked at the same length, so the result does not depend on segments.
const TRIED: usize = 256;
/// A body that failed after more output than this is damaged, not plain.
const MADE_MAX: usize = 4 << 10;
/// Bytes after the end of raw deflate, such as a checksum; a body with more is not deflate.
const BEHIND_MAX: usize = 8;
/// RFC 8878 §3.1.1 and §3.1.2: frames and skippable frames.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const SKIPPED_MAGIC: [u8; 3] = [0x2a, 0x4d, 0x18];

/// The decoder for a body with these first bytes; none while they are too few to decide. `is_all`:
/// there are no more.
pub(super) fn decoder(encoding: Encoding, begin: &[u8], is_all: bool) -> Option<Decoder> {
    let is_enough = begin.len() >= TRIED || is_all;
    match (encoding, begin) {
        (GZIP | DEFLATE, [0x1f, 0x8b, ..]) => Some(Decoder::Gzip(Gzip::new())),
        (GZIP, [_, _, ..]) => Some(Decoder::Plain),
        (DEFLATE, &[first, second, ..]) if is_enough => {
            let is_zlib = first & 15 == 8 && u16::from_be_bytes([first, second]).is_multiple_of(31);
            Some(if is_zlib {
                Decoder::Zlib(Zlib::new())
            } else {
                Decoder::Deflate(Box::new(Decompress::new(false)))
            })
        }
        (BROTLI, [_, ..]) if is_enough => Some(Decoder::Brotli(Brotli::new())),
        (ZSTD, [first, others @ ..]) if begin.len() >= ZSTD_MAGIC.len() => {
            let is_skipped = first & 0xf0 == 0x50 && others.starts_with(&SKIPPED_MAGIC);
            let is_zstd = is_skipped || begin.starts_with(&ZSTD_MAGIC);
            let zstd = Zstd::new().filter(|_| is_zstd);
            Some(zstd.map_or(Decoder::Plain, Decoder::Zstd))
        }
        _ => None,
    }
}

impl Decoder {
    /// Feeds the first bytes to the new decoder, which becomes plain if they are not in its format.
    pub(super) fn push_first(
        &mut self,
        begin: &[u8],
        (room, is_all): (&mut [u8], bool),
        out: &mut Out<'_>,
        told: &mut Anomalies,
    ) -> Result<(), Invalid> {
        match self {
            Self::Plain => {
                let _ = out(begin);
                return Err(Invalid);
            }
            // The format is certain.
            Self::Gzip(_) | Self::Zstd(_) => return self.push(begin, room, out, told),
            _ => {}
        }
        let mut held = Vec::new();
        let mut is_holding = true;
        let mut hold = |made: &[u8]| {
            if is_holding && held.len().saturating_add(made.len()) <= MADE_MAX {
                held.extend_from_slice(made);
                return ControlFlow::Continue(());
            }
            if std::mem::take(&mut is_holding) {
                out(&held)?;
            }
            out(made)
        };
        let mut result = match self {
            Self::Deflate(decompress) => match inflate(decompress, begin, room, &mut hold) {
                Ok(Progress::Goes) => Ok(()),
                Ok(Progress::Ended(used)) if begin.len().saturating_sub(used) > BEHIND_MAX => {
                    Err(Invalid)
                }
                Err(invalid) => Err(invalid),
                Ok(_) => {
                    *self = Self::Over;
                    Ok(())
                }
            },
            _ => self.push(begin, room, &mut hold, told),
        };
        if is_all && result.is_ok() {
            result = self.finish(room, &mut hold, told);
        }
        if !is_holding {
            return result;
        }
        // A frame that has content is damaged, not plain.
        let is_framed = matches!(self, Self::Zlib(_)) && !held.is_empty();
        // A few bytes do not decide.
        let is_nothing = is_all && held.is_empty() && self.is_inside();
        if is_nothing || (result.is_err() && !is_framed) {
            *self = Self::Plain;
            let _ = out(begin);
            return Err(Invalid);
        }
        if !held.is_empty() {
            let _ = out(&held);
        }
        result
    }
}
