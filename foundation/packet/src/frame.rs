//! Frames as capture finds them, and the pieces of input that hold their bytes.

use crate::{Endpoints, InterfaceId, LinkType, PacketFlags, PacketMeta, Timestamp};

/// One captured frame: where its bytes lie in the piece, and what the capture says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Offset of the first byte in [`Piece::bytes`].
    pub start: u32,
    /// Bytes captured.
    pub captured_len: u32,
    /// Bytes on the wire; at least `captured_len`.
    pub wire_len: u32,
    /// How the first bytes are to be read.
    pub link: LinkType,
    /// The interface that it came by.
    pub interface: InterfaceId,
    /// Time of capture.
    pub time: Timestamp,
}

/// A run of input, read once and in order, that cores share until its last packet is done.
///
/// `bytes` is never shrunk: a piece is reused and its memory initialised only once.
#[derive(Debug, Default)]
pub struct Piece {
    /// The bytes as read: frames and the capture format's headers between them.
    pub bytes: Vec<u8>,
    /// How many of `bytes` count.
    pub len: usize,
    /// Which piece of the input this is, from 0.
    pub number: u64,
}

impl Piece {
    /// Makes `bytes` at least so long, without more memory than that takes.
    pub fn make_room(&mut self, len: usize) {
        if let Some(more) = len.checked_sub(self.bytes.len()) {
            self.bytes.reserve_exact(more);
            self.bytes.resize(len, 0);
        }
    }
}

/// The bytes that a batch's descriptors point into.
#[derive(Clone, Copy, Debug)]
pub struct FrameBytes<'a> {
    /// The piece's bytes.
    pub piece: &'a [u8],
    /// Datagrams made from fragments ([`PacketFlags::REASSEMBLED`]), one behind the other.
    pub extra: &'a [u8],
}

/// Where some of a batch's bytes lie: what a slice of them says, for whoever cannot borrow them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    start: u32,
    len: u32,
    in_extra: bool,
}

impl Stretch {
    /// No bytes.
    pub const EMPTY: Self = Self {
        start: 0,
        len: 0,
        in_extra: false,
    };

    /// The captured bytes of a frame in its piece.
    #[inline]
    pub const fn of(frame: &Frame) -> Self {
        Self {
            start: frame.start,
            len: frame.captured_len,
            in_extra: false,
        }
    }

    /// How many bytes it has.
    #[inline]
    pub const fn bytes(&self) -> u32 {
        self.len
    }
}

impl<'a> FrameBytes<'a> {
    /// Where the captured bytes of a packet's frame (or reassembled datagram) lie.
    #[inline]
    pub const fn place(meta: &PacketMeta) -> Stretch {
        Stretch {
            start: meta.frame_start,
            len: meta.captured_len,
            in_extra: meta.flags.has(PacketFlags::REASSEMBLED),
        }
    }

    /// Where a slice lies; none if it is not one of these bytes, or is empty.
    ///
    /// ```
    /// use flowpin_packet::FrameBytes;
    ///
    /// let piece = *b"....GET /....";
    /// let frames = FrameBytes { piece: &piece, extra: &[] };
    /// let stretch = frames.find(&piece[4..9]).unwrap();
    /// assert_eq!(frames.stretch(stretch), b"GET /");
    /// assert_eq!(frames.find(b"GET /"), None);
    /// ```
    #[inline]
    pub fn find(&self, bytes: &[u8]) -> Option<Stretch> {
        let within = |all: &[u8], in_extra| {
            let start = bytes.as_ptr().addr().checked_sub(all.as_ptr().addr())?;
            let len = bytes.len();
            let is_within = len > 0 && start < all.len() && len <= all.len() - start;
            is_within.then_some(Stretch {
                start: u32::try_from(start).ok()?,
                len: u32::try_from(len).ok()?,
                in_extra,
            })
        };
        within(self.piece, false).or_else(|| within(self.extra, true))
    }

    /// The bytes of a stretch that [`FrameBytes::find`] found here. Empty, never a panic, should it
    /// not belong to these bytes.
    #[inline]
    pub fn stretch(&self, stretch: Stretch) -> &'a [u8] {
        let start = stretch.start as usize;
        self.all(stretch.in_extra)
            .get(start..start.saturating_add(stretch.len as usize))
            .unwrap_or_default()
    }

    #[inline]
    const fn all(&self, in_extra: bool) -> &'a [u8] {
        if in_extra { self.extra } else { self.piece }
    }

    /// The captured bytes of a packet's frame (or reassembled datagram). Empty, never a panic,
    /// should a descriptor not belong to these bytes.
    #[inline]
    pub fn frame(&self, meta: &PacketMeta) -> &'a [u8] {
        let start = meta.frame_start as usize;
        self.all(meta.flags.has(PacketFlags::REASSEMBLED))
            .get(start..start.saturating_add(meta.captured_len as usize))
            .unwrap_or_default()
    }

    /// The captured part of the transport payload.
    #[inline]
    pub fn payload(&self, meta: &PacketMeta) -> &'a [u8] {
        let rest = self
            .frame(meta)
            .get(usize::from(meta.payload_offset)..)
            .unwrap_or_default();
        rest.get(..meta.payload_len as usize).unwrap_or(rest)
    }

    /// The addresses of the packet's key, in key order, read from the frame.
    #[inline]
    pub fn endpoints(&self, meta: &PacketMeta) -> Endpoints {
        let header = self
            .frame(meta)
            .get(usize::from(meta.l3_offset)..)
            .unwrap_or_default();
        let (source, destination) = if meta.key.is_ipv6() {
            // RFC 8200 §3: source at 8, destination at 24.
            (ipv6_address(header, 8), ipv6_address(header, 24))
        } else {
            // RFC 791 §3.1: source at 12, destination at 16.
            (ipv4_address(header, 12), ipv4_address(header, 16))
        };
        let (low, high) = if meta.high_to_low() {
            (destination, source)
        } else {
            (source, destination)
        };
        Endpoints {
            low: low.to_le_bytes(),
            high: high.to_le_bytes(),
        }
    }
}

/// Four bytes of `header` at `offset`, padded with zeros; zeros if there are not so many.
// PERF: as one number, not as parts of an array: read as a whole right after, they would be
// waited for.
#[inline]
fn ipv4_address(header: &[u8], offset: usize) -> u128 {
    let from = header.get(offset..).and_then(|rest| rest.first_chunk());
    from.map_or(0, |from| u32::from_le_bytes(*from)).into()
}

/// Sixteen bytes of `header` at `offset`; zeros if there are not so many.
#[inline]
fn ipv6_address(header: &[u8], offset: usize) -> u128 {
    let from = header.get(offset..).and_then(|rest| rest.first_chunk());
    from.map_or(0, |from| u128::from_le_bytes(*from))
}
