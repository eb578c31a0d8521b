//! TCP (RFC 9293 §3.1).
//!
//! ```text
//!  0        2             4     8     12            13      14       16         18
//!  │ source │ destination │ seq │ ack │ data offset │ flags │ window │ checksum │ urgent │
//!  20: options, up to 40 bytes; then the payload
//! ```

use super::TcpOptions;
use crate::bytes::captured;
use flowpin_packet::{Layer, Malformed, Reason, Seq, TcpFlags, bad};

/// A TCP segment inside an IP packet. Borrows; never copies.
#[derive(Clone, Copy, Debug)]
pub struct TcpSegment<'a> {
    header: &'a [u8; TcpSegment::HEADER_LEN],
    options: &'a [u8],
    payload: &'a [u8],
    payload_len: u32,
}

impl<'a> TcpSegment<'a> {
    /// Bytes of a header without options.
    pub const HEADER_LEN: usize = 20;

    /// Splits `bytes`, of which `wire_len` were on the wire (the IP payload's length).
    ///
    /// Options that the capture cut off are left out; the fixed header must be whole.
    ///
    /// # Errors
    /// [`Reason::Truncated`] below twenty bytes, [`Reason::LengthTooSmall`] for a data offset
    /// below five words, [`Reason::LengthBeyondPacket`] for one past the packet.
    ///
    /// ```
    /// use flowpin_wire::transport::TcpSegment;
    /// let mut bytes = [0; 22];
    /// (bytes[1], bytes[12]) = (80, 0x50);
    /// let segment = TcpSegment::parse(&bytes, bytes.len())?;
    /// assert_eq!((segment.source(), segment.payload_len()), (80, 2));
    /// # Ok::<(), flowpin_wire::Malformed>(())
    /// ```
    #[inline]
    pub fn parse(bytes: &'a [u8], wire_len: usize) -> Result<Self, Malformed> {
        let Some((header, rest)) = bytes.split_first_chunk::<{ TcpSegment::HEADER_LEN }>() else {
            return Err(refuse(Reason::Truncated, 0));
        };
        let header_len = usize::from(header[12] >> 4) << 2;
        // RFC 9293 §3.1: the data offset counts the header's words, of which five are fixed.
        let Some(options_len) = header_len.checked_sub(Self::HEADER_LEN) else {
            return Err(refuse(Reason::LengthTooSmall, 12));
        };
        let Some(payload_len) = wire_len.checked_sub(header_len) else {
            return Err(refuse(Reason::LengthBeyondPacket, 12));
        };
        let (options, payload) = rest.split_at_checked(options_len).unwrap_or((rest, &[]));
        Ok(Self {
            header,
            options,
            payload: captured(payload, payload_len),
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

    /// Sequence number.
    #[inline]
    pub const fn seq(&self) -> Seq {
        let h = self.header;
        Seq(u32::from_be_bytes([h[4], h[5], h[6], h[7]]))
    }

    /// Acknowledgement number; counts only with ACK.
    #[inline]
    pub const fn ack(&self) -> Seq {
        let h = self.header;
        Seq(u32::from_be_bytes([h[8], h[9], h[10], h[11]]))
    }

    /// Control bits.
    #[inline]
    pub const fn flags(&self) -> TcpFlags {
        TcpFlags(self.header[13])
    }

    /// Receive window, unscaled.
    #[inline]
    pub const fn window(&self) -> u16 {
        u16::from_be_bytes([self.header[14], self.header[15]])
    }

    /// The checksum as it stands.
    #[inline]
    pub const fn checksum(&self) -> u16 {
        u16::from_be_bytes([self.header[16], self.header[17]])
    }

    /// Urgent pointer; counts only with URG.
    #[inline]
    pub const fn urgent_pointer(&self) -> u16 {
        u16::from_be_bytes([self.header[18], self.header[19]])
    }

    /// The options that were captured.
    #[inline]
    pub const fn options(&self) -> TcpOptions<'a> {
        TcpOptions::new(self.options)
    }

    /// Where the payload starts.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.header[12] >> 4) << 2
    }

    /// What was captured of the payload.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Length of the payload on the wire.
    #[inline]
    pub const fn payload_len(&self) -> u32 {
        self.payload_len
    }
}

#[inline]
const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Tcp, reason, offset)
}

#[cfg(test)]
mod tests {
    use super::{TcpSegment, refuse};
    use flowpin_packet::{Reason, Seq, TcpFlags};

    fn segment(offset_words: u8, rest: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 80, 1, 2, 0, 0, 0, 3, 0, 0, 0, 4, offset_words << 4, 0x12];
        bytes.extend([0x20, 0, 0xab, 0xcd, 0, 9]);
        bytes.extend(rest);
        bytes
    }

    /// Every field comes from its place in RFC 9293's figure.
    #[test]
    fn fields_are_read_from_their_places() {
        let bytes = segment(6, &[2, 4, 5, 0xb4, 7, 8]);
        let got = TcpSegment::parse(&bytes, bytes.len()).unwrap();
        assert_eq!((got.source(), got.destination()), (80, 258));
        assert_eq!((got.seq(), got.ack()), (Seq(3), Seq(4)));
        assert_eq!(got.flags(), TcpFlags::SYN.with(TcpFlags::ACK));
        assert_eq!((got.window(), got.checksum()), (0x2000, 0xabcd));
        assert_eq!((got.urgent_pointer(), got.header_len()), (9, 24));
        assert_eq!((got.payload(), got.payload_len()), (&[7, 8][..], 2));
    }

    /// Options and payload may be missing from the capture, the claim stays.
    #[test]
    fn a_snapped_segment_keeps_its_claim() {
        let bytes = segment(8, &[2, 4, 5, 0xb4]);
        let got = TcpSegment::parse(&bytes, 132).unwrap();
        assert_eq!((got.payload().len(), got.payload_len()), (0, 100));
        assert_eq!(got.options().count(), 1);
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        let parse = |bytes: &[u8]| TcpSegment::parse(bytes, bytes.len()).unwrap_err();
        assert_eq!(parse(&segment(5, &[])[..19]), refuse(Reason::Truncated, 0));
        assert_eq!(parse(&segment(4, &[])), refuse(Reason::LengthTooSmall, 12));
        assert_eq!(
            parse(&segment(6, &[])),
            refuse(Reason::LengthBeyondPacket, 12)
        );
    }
}
