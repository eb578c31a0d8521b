//! Bytes of a capture, decompressed on the way if need be.

mod attention;
mod decoders;
mod lz4;
mod pipe;
mod raw;
#[cfg(test)]
mod tests;
mod unpack;
mod windows;

pub use attention::Attention;
pub(crate) use raw::Raw;
pub(crate) use windows::Windows;

use crate::magic::Compression;
use decoders::{Gzip, Xz, Zstd};
use lz4::Lz4;
use std::io::{self, BufReader, Read};
use unpack::Unpacked;

/// A capture's bytes in order, whatever is wrapped around them.
pub(crate) enum ByteStream {
    Plain(Raw),
    Gzip(Box<Unpacked<Gzip>>),
    Zstd(Box<Unpacked<Zstd>>),
    Lz4(Box<Lz4>),
    Xz(Box<Unpacked<Xz>>),
}

impl ByteStream {
    /// Wraps `raw` into what its compression asks for.
    pub(crate) fn new(raw: Raw, compression: Compression, windows: &Windows) -> io::Result<Self> {
        if compression == Compression::None {
            return Ok(Self::Plain(raw));
        }
        let raw = BufReader::with_capacity(COMPRESSED_READ_LEN, raw);
        Ok(match compression {
            Compression::Gzip => Self::Gzip(Box::new(Unpacked::new(raw, Gzip::new()))),
            Compression::Zstd => {
                Self::Zstd(Box::new(Unpacked::new(raw, Zstd::new(windows.share())?)))
            }
            Compression::Lz4 => Self::Lz4(Box::new(Lz4::new(raw, windows.share())?)),
            Compression::Xz | Compression::None => {
                Self::Xz(Box::new(Unpacked::new(raw, Xz::new(windows.share())?)))
            }
        })
    }

    /// The bytes as they lie on disk.
    pub(crate) fn raw(&self) -> &Raw {
        match self {
            Self::Plain(raw) => raw,
            Self::Gzip(unpacked) => unpacked.raw(),
            Self::Zstd(unpacked) => unpacked.raw(),
            Self::Lz4(lz4) => lz4.raw(),
            Self::Xz(unpacked) => unpacked.raw(),
        }
    }

    /// The same, to change how they are read.
    pub(crate) fn raw_mut(&mut self) -> &mut Raw {
        match self {
            Self::Plain(raw) => raw,
            Self::Gzip(unpacked) => unpacked.raw_mut(),
            Self::Zstd(unpacked) => unpacked.raw_mut(),
            Self::Lz4(lz4) => lz4.raw_mut(),
            Self::Xz(unpacked) => unpacked.raw_mut(),
        }
    }
}

impl Read for ByteStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(raw) => raw.read(into),
            Self::Gzip(unpacked) => unpacked.read(into),
            Self::Zstd(unpacked) => unpacked.read(into),
            Self::Lz4(lz4) => lz4.read(into),
            Self::Xz(unpacked) => unpacked.read(into),
        }
    }
}

/// Compressed bytes read at once.
const COMPRESSED_READ_LEN: usize = 64 << 10;
