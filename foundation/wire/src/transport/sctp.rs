//! SCTP (RFC 9260 §3): common header and chunks.
//!
//! ```text
//!  0        2             4                  8
//!  │ source │ destination │ verification tag │ CRC32c │ chunks …
//!  chunk:  │ type │ flags │ length │ value … │ padding to 4 │
//! ```

use flowpin_packet::{Layer, Malformed, Reason, bad};

/// An SCTP packet. Borrows; never copies.
#[derive(Clone, Copy, Debug)]
pub struct SctpPacket<'a> {
    header: &'a [u8; SctpPacket::HEADER_LEN],
    payload: &'a [u8],
    payload_len: u32,
}

impl<'a> SctpPacket<'a> {
    /// Bytes before the chunks.
    pub const HEADER_LEN: usize = 12;

    /// Splits `bytes`, of which `wire_len` were on the wire (the IP payload's length).
    ///
    /// # Errors
    /// [`Reason::Truncated`] below twelve bytes, [`Reason::LengthTooSmall`] if the packet never
    /// had them.
    #[inline]
    pub fn parse(bytes: &'a [u8], wire_len: usize) -> Result<Self, Malformed> {
        let Some(payload_len) = wire_len.checked_sub(Self::HEADER_LEN) else {
            return Err(bad(Layer::Sctp, Reason::LengthTooSmall, 0));
        };
        let Some((header, payload)) = bytes.split_first_chunk() else {
            return Err(bad(Layer::Sctp, Reason::Truncated, 0));
        };
        let payload = crate::bytes::captured(payload, payload_len);
        Ok(Self {
            header,
            payload,
            payload_len: u32::try_from(payload_len).unwrap_or(u32::MAX),
        })
    }

    /// The sender's port.
    #[inline]
    pub const fn source(&self) -> u16 {
        u16::from_be_bytes([self.header[0], self.header[1]])
    }

    /// The receiver's port.
    #[inline]
    pub const fn destination(&self) -> u16 {
        u16::from_be_bytes([self.header[2], self.header[3]])
    }

    /// Verification tag of the association; 0 with INIT.
    #[inline]
    pub const fn verification_tag(&self) -> u32 {
        let h = self.header;
        u32::from_be_bytes([h[4], h[5], h[6], h[7]])
    }

    /// The CRC32c as it stands. RFC 9260 appendix A: its bytes are sent least significant first.
    #[inline]
    pub const fn checksum(&self) -> u32 {
        let h = self.header;
        u32::from_le_bytes([h[8], h[9], h[10], h[11]])
    }

    /// Where the chunks start.
    #[inline]
    pub const fn header_len(&self) -> usize {
        Self::HEADER_LEN
    }

    /// What was captured of the chunks.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Length of all chunks on the wire.
    #[inline]
    pub const fn payload_len(&self) -> u32 {
        self.payload_len
    }

    /// The chunks, up to the first that is broken or not captured.
    #[inline]
    pub const fn chunks(&self) -> SctpChunks<'a> {
        SctpChunks { rest: self.payload }
    }
}

/// One chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SctpChunk<'a> {
    /// Chunk type: 0 DATA, 1 INIT, 2 INIT ACK, 3 SACK, 6 ABORT, 7 SHUTDOWN, 14 SHUTDOWN
    /// COMPLETE …
    pub kind: u8,
    /// Chunk flags.
    pub flags: u8,
    /// Length of the value on the wire.
    pub value_len: u16,
    /// What was captured of the value.
    pub value: &'a [u8],
}

/// Goes through the chunks of a packet.
#[derive(Clone, Copy, Debug)]
pub struct SctpChunks<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for SctpChunks<'a> {
    type Item = SctpChunk<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let (&[kind, flags, high, low], rest) = self.rest.split_first_chunk()?;
        // RFC 9260 §3.2: the length counts the chunk's header, but no padding.
        let value_len = u16::from_be_bytes([high, low]).checked_sub(4)?;
        let len = usize::from(value_len);
        self.rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
        let value = crate::bytes::captured(rest, len);
        Some(SctpChunk {
            kind,
            flags,
            value_len,
            value,
        })
    }
}

impl core::iter::FusedIterator for SctpChunks<'_> {}

#[cfg(test)]
mod tests {
    use super::SctpPacket;
    use flowpin_packet::{Layer, Reason, bad};

    const PACKET: [u8; 24] = [
        0x0b, 0x59, 0x0b, 0x58, 0, 0, 0, 7, 4, 3, 2, 1, 3, 1, 0, 5, 9, 0, 0, 0, 10, 0, 0, 4,
    ];

    /// Padding stands between the chunks and is not counted in their lengths.
    #[test]
    fn chunks_are_padded_to_four_bytes() {
        let packet = SctpPacket::parse(&PACKET, PACKET.len()).unwrap();
        assert_eq!((packet.source(), packet.destination()), (2905, 2904));
        assert_eq!(
            (packet.verification_tag(), packet.checksum()),
            (7, 0x0102_0304)
        );
        let chunks: Vec<_> = packet
            .chunks()
            .map(|c| (c.kind, c.flags, c.value))
            .collect();
        assert_eq!(chunks, [(3, 1, &[9][..]), (10, 0, &[][..])]);
    }

    /// A chunk that the capture cut is told with its claim; a length below 4 ends the list.
    #[test]
    fn cut_and_broken_chunks_end_the_list() {
        let mut bytes = PACKET;
        bytes[15] = 200;
        let packet = SctpPacket::parse(&bytes, bytes.len()).unwrap();
        let chunk = packet.chunks().next().unwrap();
        assert_eq!((chunk.value_len, chunk.value.len()), (196, 8));
        assert_eq!(packet.chunks().count(), 1);
        bytes[15] = 3;
        assert_eq!(SctpPacket::parse(&bytes, 24).unwrap().chunks().count(), 0);
    }

    /// A header that was never there is told from one that the capture cut.
    #[test]
    fn short_headers_are_refused() {
        let refused = |reason| bad(Layer::Sctp, reason, 0);
        let got = SctpPacket::parse(&PACKET[..11], 11).unwrap_err();
        assert_eq!(got, refused(Reason::LengthTooSmall));
        let got = SctpPacket::parse(&PACKET[..11], 40).unwrap_err();
        assert_eq!(got, refused(Reason::Truncated));
    }
}
