//! Deflate in zlib's frame (RFC 1950): two bytes, the data, a checksum.

use super::checksum::Adler;
use super::{Invalid, Out, Progress, inflate};
use crate::anomaly::{Anomalies, Anomaly};
use flate2::Decompress;

/// The position in a zlib stream.
pub(in crate::body) struct Zlib {
    decompress: Decompress,
    sum: Adler,
    trailer: [u8; Adler::LEN],
    part: Part,
}

/// The parts of a stream, in order, with the bytes read of those of fixed length.
#[derive(Clone, Copy)]
enum Part {
    Header(u8),
    Data,
    Trailer(u8),
    /// Further bytes are ignored.
    Over,
}

/// RFC 1950 §2.2: a preset dictionary. HTTP defines none.
const HAS_DICTIONARY: u8 = 1 << 5;

impl Zlib {
    pub(super) fn new() -> Box<Self> {
        Box::new(Self {
            decompress: Decompress::new(false),
            sum: Adler::new(),
            trailer: [0; Adler::LEN],
            part: Part::Header(0),
        })
    }

    /// Decodes the next bytes; the header was checked before.
    pub(super) fn push(
        &mut self,
        input: &[u8],
        room: &mut [u8],
        out: &mut Out<'_>,
        told: &mut Anomalies,
    ) -> Result<(), Invalid> {
        let mut rest = input;
        while let Some((&byte, behind)) = rest.split_first() {
            match self.part {
                Part::Header(0) => self.part = Part::Header(1),
                Part::Header(_) if byte & HAS_DICTIONARY != 0 => return Err(Invalid),
                Part::Header(_) => self.part = Part::Data,
                Part::Data => {
                    let sum = &mut self.sum;
                    let mut out = |made: &[u8]| {
                        sum.update(made);
                        out(made)
                    };
                    match inflate(&mut self.decompress, rest, room, &mut out)? {
                        Progress::Goes => return Ok(()),
                        Progress::Stopped => self.part = Part::Over,
                        Progress::Ended(used) => {
                            self.part = Part::Trailer(0);
                            rest = rest.get(used..).unwrap_or_default();
                        }
                    }
                    continue;
                }
                Part::Trailer(read) => {
                    if let Some(place) = self.trailer.get_mut(usize::from(read)) {
                        *place = byte;
                    }
                    let read = read.saturating_add(1);
                    self.part = Part::Trailer(read);
                    if usize::from(read) == Adler::LEN {
                        self.part = Part::Over;
                        if !self.sum.check(self.trailer) {
                            told.add(Anomaly::ChecksumWrong);
                        }
                    }
                }
                Part::Over => return Ok(()),
            }
            rest = behind;
        }
        Ok(())
    }

    /// Whether the stream is incomplete.
    pub(super) const fn is_inside(&self) -> bool {
        !matches!(self.part, Part::Over)
    }
}
