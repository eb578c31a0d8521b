//! Bytes of a capture, decompressed on the way if need be.

mod attention;
mod decoders;
mod pipe;
mod raw;
#[cfg(test)]
mod tests;
mod unpack;

pub use attention::Attention;
pub(crate) use raw::Raw;

use crate::magic::Compression;
use decoders::{Gzip, Xz, Zstd};
use lz4_flex::frame::FrameDecoder;
use std::io::{self, BufReader, Read};
use unpack::Unpacked;

/// A capture's bytes in order, whatever is wrapped around them.
pub(crate) enum ByteStream {
    Plain(Raw),
    Gzip(Box<Unpacked<Gzip>>),
    Zstd(Box<Unpacked<Zstd>>),
    Lz4(Box<FrameDecoder<BufReader<Raw>>>),
    Xz(Box<Unpacked<Xz>>),
}

impl ByteStream {
    /// Wraps `raw` into what its compression asks for.
    pub(crate) fn new(raw: Raw, compression: Compression) -> io::Result<Self> {
        if compression == Compression::None {
            return Ok(Self::Plain(raw));
        }
        let raw = BufReader::with_capacity(COMPRESSED_READ_LEN, raw);
        Ok(match compression {
            Compression::Gzip => Self::Gzip(Box::new(Unpacked::new(raw, Gzip::new()))),
            Compression::Zstd => Self::Zstd(Box::new(Unpacked::new(raw, Zstd::new()?))),
            Compression::Lz4 => Self::Lz4(Box::new(FrameDecoder::new(raw))),
            Compression::Xz | Compression::None => {
                Self::Xz(Box::new(Unpacked::new(raw, Xz::new()?)))
            }
        })
    }

    /// The bytes as they lie on disk.
    pub(crate) fn raw(&self) -> &Raw {
        match self {
            Self::Plain(raw) => raw,
            Self::Gzip(unpacked) => unpacked.raw(),
            Self::Zstd(unpacked) => unpacked.raw(),
            Self::Lz4(decoder) => decoder.get_ref().get_ref(),
            Self::Xz(unpacked) => unpacked.raw(),
        }
    }

    /// The same, to change how they are read.
    pub(crate) fn raw_mut(&mut self) -> &mut Raw {
        match self {
            Self::Plain(raw) => raw,
            Self::Gzip(unpacked) => unpacked.raw_mut(),
            Self::Zstd(unpacked) => unpacked.raw_mut(),
            Self::Lz4(decoder) => decoder.get_mut().get_mut(),
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
            Self::Lz4(decoder) => read_lz4(decoder, into),
            Self::Xz(unpacked) => unpacked.read(into),
        }
    }
}

/// The decoder reports an end after every frame and after every empty block, also where the
/// input stops between two blocks or after a magic number. So the end is where it takes no more
/// input, and it is a good one if the last words read can be a frame's end mark.
fn read_lz4(decoder: &mut FrameDecoder<BufReader<Raw>>, into: &mut [u8]) -> io::Result<usize> {
    let mut is_end = false;
    loop {
        let before = taken(decoder.get_ref());
        let count = decoder.read(into)?;
        if count > 0 || into.is_empty() {
            return Ok(count);
        }
        match taken(decoder.get_ref()) - before {
            0 => break,
            1..LZ4_FRAME_LEN_MIN if is_end => {
                return Err(unpack::invalid("what follows the last LZ4 frame is none"));
            }
            _ => is_end = is_lz4_end(decoder.get_ref().get_ref()),
        }
    }
    if is_lz4_end(decoder.get_ref().get_ref()) {
        return Ok(0);
    }
    Err(io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the last frame has no end mark",
    ))
}

/// LZ4 frame format: EndMark is 0, a content checksum of 4 bytes may follow. Legacy frames have
/// neither, so nothing can be said about their end.
fn is_lz4_end(raw: &Raw) -> bool {
    matches!(raw.tail(), [0, 0, 0, 0, ..] | [.., 0, 0, 0, 0]) || raw.is_legacy_lz4()
}

/// Bytes that a decoder has taken out of its buffer.
fn taken(reader: &BufReader<Raw>) -> u64 {
    reader.get_ref().served() - reader.buffer().len() as u64
}

/// Compressed bytes read at once.
const COMPRESSED_READ_LEN: usize = 64 << 10;

/// Magic number, descriptor and end mark of a frame without blocks.
const LZ4_FRAME_LEN_MIN: u64 = 11;
