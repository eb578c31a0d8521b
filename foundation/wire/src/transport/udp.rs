//! UDP (RFC 768).
//!
//! ```text
//!  0        2             4        6
//!  │ source │ destination │ length │ checksum │ payload …
//! ```

use crate::bytes::captured;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// A UDP datagram inside an IP packet. Borrows; never copies.
#[derive(Clone, Copy, Debug)]
pub struct UdpDatagram<'a> {
    header: &'a [u8; UdpDatagram::HEADER_LEN],
    payload: &'a [u8],
    payload_len: u32,
}

impl<'a> UdpDatagram<'a> {
    /// Bytes before the payload.
    pub const HEADER_LEN: usize = 8;

    /// Splits `bytes`, of which `wire_len` were on the wire (the IP payload's length); bytes
    /// past `length` are padding and dropped.
    ///
    /// # Errors
    /// [`Reason::Truncated`] below eight bytes, [`Reason::LengthTooSmall`] for a length below
    /// eight, [`Reason::LengthBeyondPacket`] for one that reaches past the packet.
    ///
    /// ```
    /// use flowpin_wire::transport::UdpDatagram;
    /// let bytes = [0, 53, 4, 0, 0, 10, 0, 0, 7, 8, 0];
    /// let datagram = UdpDatagram::parse(&bytes, bytes.len())?;
    /// assert_eq!((datagram.source(), datagram.payload()), (53, &[7, 8][..]));
    /// # Ok::<(), flowpin_wire::Malformed>(())
    /// ```
    #[inline]
    pub fn parse(bytes: &'a [u8], wire_len: usize) -> Result<Self, Malformed> {
        let Some((header, rest)) = bytes.split_first_chunk::<{ UdpDatagram::HEADER_LEN }>() else {
            return Err(refuse(Reason::Truncated, 0));
        };
        let claimed = usize::from(u16::from_be_bytes([header[4], header[5]]));
        let Some(payload_len) = claimed.checked_sub(Self::HEADER_LEN) else {
            return Err(refuse(Reason::LengthTooSmall, 4));
        };
        if claimed > wire_len {
            return Err(refuse(Reason::LengthBeyondPacket, 4));
        }
        Ok(Self {
            header,
            payload: captured(rest, payload_len),
            payload_len: u32::try_from(payload_len).unwrap_or(u32::MAX),
        })
    }

    /// As [`Self::parse`], but a length of 0 means "to the end of the packet": in an IPv6
    /// jumbogram (RFC 2675 §4), and in a packet whose IP length is left to the adapter.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_unbounded(bytes: &'a [u8], wire_len: usize) -> Result<Self, Malformed> {
        match bytes.split_first_chunk::<{ UdpDatagram::HEADER_LEN }>() {
            Some((header @ &[_, _, _, _, 0, 0, _, _], payload)) => {
                let payload_len = wire_len.saturating_sub(Self::HEADER_LEN);
                Ok(Self {
                    header,
                    payload: captured(payload, payload_len),
                    payload_len: u32::try_from(payload_len).unwrap_or(u32::MAX),
                })
            }
            _ => Self::parse(bytes, wire_len),
        }
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

    /// The length field as it stands: header and payload.
    #[inline]
    pub const fn length(&self) -> u16 {
        u16::from_be_bytes([self.header[4], self.header[5]])
    }

    /// The checksum as it stands; 0 means none (IPv4 only).
    #[inline]
    pub const fn checksum(&self) -> u16 {
        u16::from_be_bytes([self.header[6], self.header[7]])
    }

    /// Where the payload starts.
    #[inline]
    pub const fn header_len(&self) -> usize {
        Self::HEADER_LEN
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
    bad(Layer::Udp, reason, offset)
}

#[cfg(test)]
mod tests {
    use super::{UdpDatagram, refuse};
    use flowpin_packet::Reason;

    /// RFC 768 counts the header in `length`, so 8 is the least legal value: 7 must be
    /// refused with the length field's offset, not treated as an empty payload.
    #[test]
    fn length_below_header_is_refused_at_the_length_field() {
        let got = UdpDatagram::parse(&[0, 53, 0, 54, /* length */ 0, 7, 0, 0], 8).unwrap_err();
        assert_eq!(got, refuse(Reason::LengthTooSmall, 4));
    }

    /// A length that the packet does not have is a lie; one that the capture cut is not.
    #[test]
    fn the_packet_bounds_the_length_and_the_capture_does_not() {
        let bytes = [0, 53, 0, 54, 0, 12, 0, 0, 1, 2];
        let refused = UdpDatagram::parse(&bytes, 11).unwrap_err();
        assert_eq!(refused, refuse(Reason::LengthBeyondPacket, 4));
        let snapped = UdpDatagram::parse(&bytes, 12).unwrap();
        assert_eq!((snapped.payload(), snapped.payload_len()), (&[1, 2][..], 4));
    }

    /// Length 0 is refused, except where the caller knows that the packet has no length.
    #[test]
    fn length_zero_is_only_for_packets_without_length() {
        let bytes = [0, 53, 0, 54, 0, 0, 0, 0, 1, 2];
        let refused = UdpDatagram::parse(&bytes, 10).unwrap_err();
        assert_eq!(refused, refuse(Reason::LengthTooSmall, 4));
        let jumbo = UdpDatagram::parse_unbounded(&bytes, 70_000).unwrap();
        assert_eq!(
            (jumbo.payload(), jumbo.payload_len()),
            (&[1, 2][..], 69_992)
        );
        // Any other length keeps its meaning.
        let small = [0, 53, 0, 54, 0, 9, 0, 0, 1, 2];
        assert_eq!(
            UdpDatagram::parse_unbounded(&small, 10).unwrap().payload(),
            [1]
        );
    }

    /// A header cut short is refused at its start.
    #[test]
    fn a_short_header_is_refused() {
        let got = UdpDatagram::parse(&[0; 7], 100).unwrap_err();
        assert_eq!(got, refuse(Reason::Truncated, 0));
    }
}
