//! Bytes of a capture, decompressed on the way if need be.

mod attention;
mod pipe;
mod raw;

pub use attention::Attention;
pub(crate) use raw::Raw;

use crate::magic::Compression;
use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use lz4_flex::frame::FrameDecoder;
use std::io::{self, BufReader, Read};

/// A capture's bytes in order, whatever is wrapped around them.
pub(crate) enum ByteStream {
    Plain(Raw),
    Gzip(Box<MultiGzDecoder<BufReader<Raw>>>),
    Zstd(Box<zstd::Decoder<'static, BufReader<Raw>>>),
    Lz4(Box<FrameDecoder<BufReader<Raw>>>),
    Xz(Box<XzDecoder<BufReader<Raw>>>),
}

impl ByteStream {
    /// Wraps `raw` into what its compression asks for.
    pub(crate) fn new(raw: Raw, compression: Compression) -> io::Result<Self> {
        if compression == Compression::None {
            return Ok(Self::Plain(raw));
        }
        let raw = BufReader::with_capacity(COMPRESSED_READ_LEN, raw);
        Ok(match compression {
            Compression::Gzip => Self::Gzip(Box::new(MultiGzDecoder::new(raw))),
            Compression::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(raw)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Self::Zstd(Box::new(decoder))
            }
            Compression::Lz4 => Self::Lz4(Box::new(FrameDecoder::new(raw))),
            Compression::Xz | Compression::None => {
                let stream = liblzma::stream::Stream::new_stream_decoder(
                    XZ_MEMORY_MAX,
                    liblzma::stream::CONCATENATED,
                )?;
                Self::Xz(Box::new(XzDecoder::new_stream(raw, stream)))
            }
        })
    }

    /// The bytes as they lie on disk.
    pub(crate) fn raw(&self) -> &Raw {
        match self {
            Self::Plain(raw) => raw,
            Self::Gzip(decoder) => decoder.get_ref().get_ref(),
            Self::Zstd(decoder) => decoder.get_ref().get_ref(),
            Self::Lz4(decoder) => decoder.get_ref().get_ref(),
            Self::Xz(decoder) => decoder.get_ref().get_ref(),
        }
    }

    /// The same, to change how they are read.
    pub(crate) fn raw_mut(&mut self) -> &mut Raw {
        match self {
            Self::Plain(raw) => raw,
            Self::Gzip(decoder) => decoder.get_mut().get_mut(),
            Self::Zstd(decoder) => decoder.get_mut().get_mut(),
            Self::Lz4(decoder) => decoder.get_mut().get_mut(),
            Self::Xz(decoder) => decoder.get_mut().get_mut(),
        }
    }
}

impl Read for ByteStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(raw) => raw.read(into),
            Self::Gzip(decoder) => decoder.read(into),
            Self::Zstd(decoder) => decoder.read(into),
            Self::Lz4(decoder) => read_lz4(decoder, into),
            Self::Xz(decoder) => decoder.read(into),
        }
    }
}

/// The decoder reports an end after every frame and after every empty block, also where the
/// input stops between two blocks. So the end is where it takes no more input, and it is a
/// good one if the last words read can be a frame's end mark.
fn read_lz4(decoder: &mut FrameDecoder<BufReader<Raw>>, into: &mut [u8]) -> io::Result<usize> {
    loop {
        let taken = taken(decoder.get_ref());
        let count = decoder.read(into)?;
        if count > 0 || into.is_empty() {
            return Ok(count);
        }
        if taken == self::taken(decoder.get_ref()) {
            break;
        }
    }
    // LZ4 frame format: EndMark is 0, a content checksum of 4 bytes may follow. Legacy frames
    // have neither, so nothing can be said about their end.
    match decoder.get_ref().get_ref().tail() {
        [0, 0, 0, 0, ..] | [.., 0, 0, 0, 0] => Ok(0),
        _ if decoder.get_ref().get_ref().is_legacy_lz4() => Ok(0),
        _ => Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the last frame has no end mark",
        )),
    }
}

/// Bytes that a decoder has taken out of its buffer.
fn taken(reader: &BufReader<Raw>) -> u64 {
    reader.get_ref().served() - reader.buffer().len() as u64
}

/// Compressed bytes read at once.
const COMPRESSED_READ_LEN: usize = 64 << 10;

/// A frame that asks for a larger window than 2²⁷ bytes is refused, as by `zstd` itself.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Enough for `xz -9` (65 MiB) and for dictionaries of 192 MiB.
const XZ_MEMORY_MAX: u64 = 256 << 20;
