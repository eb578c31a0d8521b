//! LZ4 frames, one behind the other.

use super::raw::Raw;
use super::unpack;
use super::windows::Share;
use lz4_flex::frame::FrameDecoder;
use std::io::{self, BufReader, Read};

/// What LZ4 frames hold.
pub(crate) struct Lz4 {
    decoder: FrameDecoder<BufReader<Raw>>,
    _buffers: Share,
}

impl Lz4 {
    pub(super) fn new(from: BufReader<Raw>, mut buffers: Share) -> io::Result<Self> {
        buffers.set(buffers_of(from.get_ref().head()))?;
        Ok(Self {
            decoder: FrameDecoder::new(from),
            _buffers: buffers,
        })
    }

    /// The bytes as they lie on disk.
    pub(super) fn raw(&self) -> &Raw {
        self.decoder.get_ref().get_ref()
    }

    pub(super) fn raw_mut(&mut self) -> &mut Raw {
        self.decoder.get_mut().get_mut()
    }
}

/// The decoder reports an end after every frame and after every empty block, also where the
/// input stops between two blocks or after a magic number. So the end is where it takes no more
/// input, and it is a good one if the last words read can be a frame's end mark.
impl Read for Lz4 {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let decoder = &mut self.decoder;
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
}

/// What the decoder keeps, by the descriptor of the first frame: a block as it is, and decoded.
fn buffers_of(head: &[u8]) -> u64 {
    // LZ4 frame format: Block Maximum Size is in bits 6 to 4 of the byte behind the flags. Legacy
    // blocks have up to 8 MiB.
    let block = match head {
        [0x02, 0x21, 0x4c, 0x18, ..] => 8 << 20,
        [_, _, _, _, _, descriptor, ..] => 1_u64 << (2 * u32::from(descriptor >> 4 & 7) + 8),
        _ => 0,
    };
    2 * block
}

/// LZ4 frame format: EndMark is 0, a content checksum of 4 bytes may follow. Legacy frames have
/// neither, so nothing can be said about their end.
fn is_lz4_end(raw: &Raw) -> bool {
    // Before so many bytes have been served, the tail has zeros of its own.
    let is_mark = matches!(raw.tail(), [0, 0, 0, 0, ..] | [.., 0, 0, 0, 0]);
    is_mark && raw.served() >= LZ4_FRAME_LEN_MIN || raw.is_legacy_lz4()
}

/// Bytes that a decoder has taken out of its buffer.
fn taken(reader: &BufReader<Raw>) -> u64 {
    reader.get_ref().served() - reader.buffer().len() as u64
}

/// Magic number, descriptor and end mark of a frame without blocks.
const LZ4_FRAME_LEN_MIN: u64 = 11;
