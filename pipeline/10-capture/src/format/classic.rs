//! pcap: a file header of 24 bytes, then records of one link type.
//!
//! ```text
//!  file    magic │ version │ zone, 0 │ snap length │ link type and FCS │ (Ixia: length)
//!  record  seconds │ fraction │ captured length │ length │ (Kuznetzov: 8 bytes more) │ frame
//! ```
//!
//! The magic tells byte order, the unit of the fraction, and the variant.

use super::{CAPTURED_LEN_MAX, DamageKind, Next, Order, Peek};
use crate::magic::{self, Refusal};
use flowpin_packet::{Frame, InterfaceId, LinkType, Timestamp};

/// One pcap file's properties: all that is needed to read a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Classic {
    pub(crate) order: Order,
    /// 16, or 24 in Kuznetzov's variant.
    pub(crate) record_header_len: usize,
    /// Nanoseconds that one unit of the fraction stands for.
    pub(crate) fraction_ns: u64,
    pub(crate) link_number: u16,
    pub(crate) link: LinkType,
    pub(crate) lengths: Lengths,
    pub(crate) variant: &'static str,
}

/// In what order a record gives captured and original length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lengths {
    /// Captured length first.
    Normal,
    /// The other way round: versions before 2.3, and DG/UX.
    Swapped,
    /// Version 2.3: both occur; the lesser one is the captured length.
    LesserIsCaptured,
}

impl Classic {
    pub(crate) const FILE_HEADER_LEN: usize = 24;
    /// The part of a record's header that all variants share.
    pub(crate) const RECORD_HEADER_LEN: usize = 16;

    /// The properties, and the length of the file header. `Ok(None)`: cut off in the header.
    pub(crate) fn identify(head: &[u8]) -> Result<Option<(Self, usize)>, Refusal> {
        let Some(&magic) = head.first_chunk::<4>() else {
            return Err(magic::refusal(head));
        };
        let Some((variant, order)) = Variant::of(magic) else {
            return Err(magic::refusal(head));
        };
        let header_len = Self::FILE_HEADER_LEN + variant.extra_file_header_len;
        if head.len() < header_len {
            return Ok(None);
        }
        let lengths = match (order.u16_at(head, 4), order.u16_at(head, 6)) {
            (2, 0..=2) | (543, 0) => Lengths::Swapped,
            (2, 3) => Lengths::LesserIsCaptured,
            (2, _) => Lengths::Normal,
            (major, minor) => return Err(Refusal::Version(major, minor)),
        };
        // The upper half holds the length of a frame check sequence and reserved bits. Such a
        // sequence stays at the end of the frame: it lies behind the lengths in IP headers.
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let link_number = order.u32_at(head, 20) as u16;
        let classic = Self {
            order,
            record_header_len: Self::RECORD_HEADER_LEN + variant.extra_record_header_len,
            fraction_ns: variant.fraction_ns,
            link_number,
            link: LinkType::of_number(link_number),
            lengths,
            variant: variant.name,
        };
        Ok(Some((classic, header_len)))
    }

    /// The record at `*pos`.
    pub(crate) fn next(&mut self, bytes: &[u8], pos: &mut usize) -> Next {
        let start = *pos;
        let rest = bytes.get(start..).unwrap_or_default();
        let Some(header) = rest.get(..self.record_header_len) else {
            return Next::Need(self.record_header_len);
        };
        let word = |at| self.order.u32_at(header, at);
        let (first, second) = (word(8), word(12));
        let (captured_len, len) = match self.lengths {
            Lengths::Normal => (first, second),
            Lengths::Swapped => (second, first),
            Lengths::LesserIsCaptured => (first.min(second), first.max(second)),
        };
        if captured_len > CAPTURED_LEN_MAX {
            return Next::Damaged(DamageKind::PacketTooLong(captured_len));
        }
        let need = self.record_header_len + captured_len as usize;
        if rest.len() < need {
            return Next::Need(need);
        }
        *pos = start + need;
        let frame = Frame {
            start: place(start + self.record_header_len),
            captured_len,
            wire_len: len.max(captured_len),
            link: self.link,
            interface: InterfaceId::NONE,
            time: self.time(word(0), word(4)),
        };
        Next::Frame(frame, start)
    }

    /// The time of the record at `pos`, or how many bytes there must be to tell.
    pub(crate) fn peek(&self, bytes: &[u8], pos: usize) -> Peek {
        let header = bytes.get(pos..).unwrap_or_default();
        if header.len() < Self::RECORD_HEADER_LEN {
            return Peek::Need(Self::RECORD_HEADER_LEN);
        }
        let word = |at| self.order.u32_at(header, at);
        Peek::Time(self.time(word(0), word(4)))
    }

    /// The time of a record. Both are unsigned: dates up to 2106.
    #[inline]
    pub(crate) const fn time(&self, secs: u32, fraction: u32) -> Timestamp {
        Timestamp(secs as u64 * 1_000_000_000 + fraction as u64 * self.fraction_ns)
    }
}

/// An offset in a piece. Pieces are far below 4 GiB.
#[inline]
pub(super) fn place(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// What a magic number says.
struct Variant {
    magic: u32,
    fraction_ns: u64,
    extra_file_header_len: usize,
    extra_record_header_len: usize,
    name: &'static str,
}

impl Variant {
    fn of(magic: [u8; 4]) -> Option<(&'static Self, Order)> {
        let by = |order: Order| {
            let known = VARIANTS.iter().find(|v| v.magic == order.u32(magic));
            known.map(|variant| (variant, order))
        };
        by(Order::Little).or_else(|| by(Order::Big))
    }
}

const VARIANTS: &[Variant] = &[
    Variant {
        magic: 0xa1b2_c3d4,
        fraction_ns: 1000,
        extra_file_header_len: 0,
        extra_record_header_len: 0,
        name: "pcap",
    },
    Variant {
        magic: 0xa1b2_3c4d,
        fraction_ns: 1,
        extra_file_header_len: 0,
        extra_record_header_len: 0,
        name: "pcap, nanoseconds",
    },
    Variant {
        magic: 0xa1b2_cd34,
        fraction_ns: 1000,
        extra_file_header_len: 0,
        extra_record_header_len: 8,
        name: "pcap, Kuznetzov's variant",
    },
    // Ixia's: the sum of the packets' lengths follows the file header. Hardware captures have
    // nanoseconds, software ones microseconds.
    Variant {
        magic: 0x1c00_01ac,
        fraction_ns: 1,
        extra_file_header_len: 4,
        extra_record_header_len: 0,
        name: "pcap, Ixia's hardware variant",
    },
    Variant {
        magic: 0x1c00_01ab,
        fraction_ns: 1000,
        extra_file_header_len: 4,
        extra_record_header_len: 0,
        name: "pcap, Ixia's software variant",
    },
];
