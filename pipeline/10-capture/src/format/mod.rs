//! Capture formats: bytes to frames.
//!
//! A format walks bytes that begin where a record begins. It is told the bytes there are and
//! says what comes next: a frame, how many more bytes it needs to tell, or what is damaged.
//! It never reads, so it cannot block, and keeps nothing of the bytes.

mod classic;
mod damage;
mod order;
mod pcapng;

pub(crate) use classic::{Classic, Lengths};
pub use damage::Damage;
pub(crate) use damage::DamageKind;
pub(crate) use order::Order;
pub(crate) use pcapng::{FLOWPIN, Pcapng, Quick};

use crate::magic::Refusal;
use flowpin_packet::{Frame, InterfaceNames, Timestamp};

/// The greatest captured length that is believed: the limit of tcpdump and Wireshark too, so a
/// longer one is a damaged header.
pub const CAPTURED_LEN_MAX: u32 = 262_144;

/// What stands at a place in the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A frame, and where its record starts.
    Frame(Frame, usize),
    /// A record of which there must be at least that many bytes.
    Need(usize),
    /// Nothing that can be read on.
    Damaged(DamageKind),
}

/// What a look at the next record shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peek {
    /// Its time.
    Time(Timestamp),
    /// Nothing, unless there are at least that many bytes.
    Need(usize),
    /// No time.
    Nothing,
}

/// The format of one capture, with what was learned from its headers.
#[derive(Debug)]
pub(crate) enum Format {
    /// pcap in any of its variants.
    Classic(Classic),
    /// pcapng.
    Pcapng(Box<Pcapng>),
}

impl Format {
    /// The format, and how many bytes its file header takes. `Ok(None)`: a capture that ends
    /// within its file header.
    pub(crate) fn identify(
        head: &[u8],
        names: &InterfaceNames,
    ) -> Result<Option<(Self, usize)>, Refusal> {
        if let Some(found) = Pcapng::identify(head, names) {
            return Ok(found.map(|pcapng| (Self::Pcapng(Box::new(pcapng)), 0)));
        }
        Classic::identify(head).map(|found| found.map(|(c, len)| (Self::Classic(c), len)))
    }

    /// What stands at `*pos`, moving it behind what was read.
    #[inline]
    pub(crate) fn next(&mut self, bytes: &[u8], pos: &mut usize) -> Next {
        match self {
            Self::Classic(classic) => classic.next(bytes, pos),
            Self::Pcapng(pcapng) => pcapng.next(bytes, pos),
        }
    }

    /// The LINKTYPE_ number and byte order of the last frame.
    #[inline]
    pub(crate) const fn last_link(&self) -> (u16, Order) {
        match self {
            Self::Classic(classic) => (classic.link_number, classic.order),
            Self::Pcapng(pcapng) => pcapng.last_link(),
        }
    }

    /// Up to when nothing came after the last packet, if that is written and was not taken yet.
    #[inline]
    pub(crate) const fn take_silence(&mut self) -> Option<Timestamp> {
        match self {
            Self::Classic(_) => None,
            Self::Pcapng(pcapng) => pcapng.take_silence(),
        }
    }

    /// Packets that were lost while it was captured, as far as it says so.
    pub(crate) fn dropped(&self) -> u64 {
        match self {
            Self::Classic(_) => 0,
            Self::Pcapng(pcapng) => pcapng.dropped(),
        }
    }

    /// The time of the packet that stands at `pos`, if it is one. Changes nothing.
    pub(crate) fn peek(&self, bytes: &[u8], pos: usize) -> Peek {
        match self {
            Self::Classic(classic) => classic.peek(bytes, pos),
            Self::Pcapng(pcapng) => pcapng.peek(bytes, pos),
        }
    }

    /// The name in reports.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Classic(classic) => classic.variant,
            Self::Pcapng(_) => "pcapng",
        }
    }

    /// Whether the bytes may end here, no byte of a record being left.
    pub(crate) const fn may_end(&self) -> bool {
        match self {
            Self::Classic(_) => true,
            Self::Pcapng(pcapng) => pcapng.may_end(),
        }
    }

    /// What is missing if the bytes end here.
    pub(crate) const fn cut(&self) -> DamageKind {
        match self {
            Self::Classic(_) => DamageKind::CutRecord,
            Self::Pcapng(_) => DamageKind::CutBlock,
        }
    }
}
