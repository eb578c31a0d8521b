//! A gzip body: a sequence of members (RFC 1952 §2.2), whose headers are read byte by byte.

use super::checksum::GzipSum;
use super::{Invalid, Out, Progress, inflate};
use crate::anomaly::{Anomalies, Anomaly};
use flate2::Decompress;

/// The position in a gzip body.
pub(in crate::body) struct Gzip {
    decompress: Decompress,
    sum: GzipSum,
    trailer: [u8; GzipSum::LEN],
    part: Part,
}

/// The parts of a member, in order.
#[derive(Clone, Copy)]
enum Part {
    Header(Header),
    Data,
    /// CRC32 and ISIZE: the number of bytes read.
    Trailer(u8),
    /// The rest is ignored: it is no further member, or a limit was reached.
    Over,
}

impl Gzip {
    pub(super) fn new() -> Box<Self> {
        Box::new(Self {
            decompress: Decompress::new(false),
            sum: GzipSum::default(),
            trailer: [0; GzipSum::LEN],
            part: Part::Header(Header::default()),
        })
    }

    /// Decodes the next bytes.
    pub(super) fn push(
        &mut self,
        input: &[u8],
        room: &mut [u8],
        out: &mut Out<'_>,
        told: &mut Anomalies,
    ) -> Result<(), Invalid> {
        let mut rest = input;
        while !rest.is_empty() {
            let used = match &mut self.part {
                Part::Header(header) => match header.read(rest) {
                    Ok(used) => {
                        if header.is_over() {
                            if header.is_later {
                                told.add(Anomaly::GzipMembers);
                            }
                            self.part = Part::Data;
                        }
                        used
                    }
                    // Bytes after the last member are ignored, as by gzip(1).
                    Err(_) if header.is_later => {
                        self.part = Part::Over;
                        return Ok(());
                    }
                    Err(invalid) => return Err(invalid),
                },
                Part::Data => {
                    let sum = &mut self.sum;
                    let mut out = |made: &[u8]| {
                        sum.update(made);
                        out(made)
                    };
                    match inflate(&mut self.decompress, rest, room, &mut out)? {
                        Progress::Goes => return Ok(()),
                        Progress::Stopped => {
                            self.part = Part::Over;
                            return Ok(());
                        }
                        Progress::Ended(used) => {
                            self.part = Part::Trailer(0);
                            used
                        }
                    }
                }
                Part::Trailer(read) => {
                    let place = self.trailer.get_mut(usize::from(*read));
                    if let (Some(place), Some(&byte)) = (place, rest.first()) {
                        *place = byte;
                    }
                    *read = read.saturating_add(1);
                    if usize::from(*read) == GzipSum::LEN {
                        if !self.sum.check(self.trailer) {
                            told.add(Anomaly::ChecksumWrong);
                        }
                        self.decompress.reset(false);
                        self.part = Part::Header(Header {
                            is_later: true,
                            ..Header::default()
                        });
                    }
                    1
                }
                Part::Over => return Ok(()),
            };
            rest = rest.get(used..).unwrap_or_default();
        }
        Ok(())
    }

    /// Whether a member is incomplete.
    pub(super) const fn is_inside(&self) -> bool {
        match self.part {
            Part::Header(header) => !header.is_later,
            Part::Data | Part::Trailer(_) => true,
            Part::Over => false,
        }
    }
}

/// The progress of a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    place: Place,
    flags: u8,
    /// Bytes read of the current part.
    read: u16,
    extra_len: u16,
    /// It is not the first member.
    is_later: bool,
}

/// The parts of a header, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd)]
enum Place {
    /// The fixed ten bytes.
    #[default]
    Fixed,
    ExtraLen,
    Extra,
    Name,
    Comment,
    Checksum,
    Over,
}

const FIXED_LEN: u16 = 10;
const HAS_CHECKSUM: u8 = 1 << 1;
const HAS_EXTRA: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;

impl Header {
    pub(super) fn is_over(self) -> bool {
        self.place == Place::Over
    }

    /// Reads the next bytes, and returns how many belong to the header.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<usize, Invalid> {
        let mut used = 0usize;
        for &byte in bytes {
            if self.is_over() {
                break;
            }
            self.step(byte)?;
            used = used.wrapping_add(1);
        }
        Ok(used)
    }

    fn step(&mut self, byte: u8) -> Result<(), Invalid> {
        let nth = self.read;
        self.read = nth.saturating_add(1);
        let is_last = match self.place {
            Place::Fixed => {
                let magic = [0x1f, 0x8b, 8].get(usize::from(nth));
                if magic.is_some_and(|&magic| magic != byte) {
                    return Err(Invalid);
                }
                if nth == 3 {
                    self.flags = byte;
                }
                self.read == FIXED_LEN
            }
            Place::ExtraLen => {
                let [low, high] = self.extra_len.to_le_bytes();
                self.extra_len =
                    u16::from_le_bytes(if nth == 0 { [byte, high] } else { [low, byte] });
                nth == 1
            }
            Place::Extra => self.read == self.extra_len,
            Place::Name | Place::Comment => byte == 0,
            Place::Checksum => nth == 1,
            Place::Over => false,
        };
        if is_last {
            self.go_on();
        }
        Ok(())
    }

    /// Moves to the next part that this header has.
    fn go_on(&mut self) {
        let has = |flag: u8| self.flags & flag != 0;
        let places = [
            (Place::ExtraLen, has(HAS_EXTRA)),
            (Place::Extra, has(HAS_EXTRA) && self.extra_len > 0),
            (Place::Name, has(HAS_NAME)),
            (Place::Comment, has(HAS_COMMENT)),
            (Place::Checksum, has(HAS_CHECKSUM)),
        ];
        let next = places
            .into_iter()
            .find(|&(place, is_there)| is_there && place > self.place);
        self.place = next.map_or(Place::Over, |(place, _)| place);
        self.read = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::Header;

    /// RFC 1952 §2.3: each flag adds a part, in a fixed order.
    #[test]
    fn every_part_of_a_header_is_skipped_however_it_is_cut() {
        let fixed = |flags: u8| [0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3].to_vec();
        for (flags, more) in [
            (0u8, b"".as_slice()),
            (1 << 1, b"cc"),
            (1 << 2, b"\x03\x00abc"),
            (1 << 2, b"\x00\x00"),
            (1 << 3, b"name\0"),
            (1 << 4, b"\0"),
            (0x1e, b"\x01\x00xname\0comment\0cc"),
        ] {
            let header = [fixed(flags), more.to_vec()].concat();
            let bytes = [header.clone(), b"data".to_vec()].concat();
            for piece in [1, 2, 3, 100] {
                let mut state = Header::default();
                let used: usize = bytes
                    .chunks(piece)
                    .map(|part| state.read(part).unwrap())
                    .sum();
                assert!(state.is_over());
                assert_eq!(used, header.len(), "{flags:#x} by {piece}");
            }
        }
        assert!(Header::default().read(b"\x1f\x8c").is_err());
        assert!(Header::default().read(b"<html>").is_err());
    }
}
