//! PPP frames (RFC 1661), with or without HDLC framing (RFC 1662) and compressed fields.
//!
//! ```text
//!  │ address 0xff │ control 3 │ protocol (2, or 1 if odd) │ payload …
//!  └─ left out by address and control field compression ─┘
//! ```
//!
//! Octet stuffing is undone before a capture is written, so it is not looked for.

use crate::Next;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// A PPP frame.
#[derive(Clone, Copy, Debug)]
pub struct PppFrame<'a> {
    protocol: u16,
    header_len: u8,
    payload: &'a [u8],
}

impl<'a> PppFrame<'a> {
    /// Reads the protocol field, and the framing in front of it if there is one.
    ///
    /// # Errors
    /// [`Reason::Truncated`] if the protocol field is not whole, [`Reason::IllegalValue`] if
    /// both its octets are even.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        // RFC 1661 §2: protocol 0xff03 does not exist, so the framing is told by its bytes.
        let (rest, framing_len) = match bytes {
            [0xff, 0x03, rest @ ..] => (rest, 2u8),
            _ => (bytes, 0),
        };
        let (protocol, protocol_len, payload) = match rest {
            // RFC 1661 §6.5: a first octet that is odd is the whole, compressed field.
            [first, payload @ ..] if first & 1 == 1 => (u16::from(*first), 1u8, payload),
            [first, second, payload @ ..] => (u16::from_be_bytes([*first, *second]), 2, payload),
            _ => return Err(bad(Layer::Ppp, Reason::Truncated, u16::from(framing_len))),
        };
        // RFC 1661 §2: the least significant octet is odd.
        if protocol & 1 == 0 {
            let offset = u16::from(framing_len);
            return Err(bad(Layer::Ppp, Reason::IllegalValue, offset));
        }
        let header_len = framing_len.saturating_add(protocol_len);
        Ok(Self {
            protocol,
            header_len,
            payload,
        })
    }

    /// The protocol number.
    #[inline]
    pub const fn protocol(&self) -> u16 {
        self.protocol
    }

    /// What the payload is. Control protocols, compressed and encrypted packets are opaque.
    #[inline]
    pub const fn next(&self) -> Next {
        match self.protocol {
            0x0021 => Next::Ipv4,
            0x0057 => Next::Ipv6,
            0x0281 | 0x0283 => Next::Mpls,
            _ => Next::Opaque,
        }
    }

    /// What follows the protocol field.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Where the payload starts.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.header_len)
    }
}

#[cfg(test)]
mod tests {
    use super::PppFrame;
    use crate::Next;
    use flowpin_packet::{Layer, Reason, bad};

    /// All four combinations of compressed and plain fields carry the same packet.
    #[test]
    fn compressed_fields_are_understood() {
        for header in [
            &[0xff, 3, 0, 0x21][..],
            &[0, 0x21],
            &[0x21],
            &[0xff, 3, 0x21],
        ] {
            let bytes = [header, &[0x45]].concat();
            let frame = PppFrame::parse(&bytes).unwrap();
            assert_eq!(
                (frame.next(), frame.header_len()),
                (Next::Ipv4, header.len())
            );
            assert_eq!(frame.payload(), [0x45]);
        }
    }

    /// Control protocols are well formed and closed.
    #[test]
    fn control_protocols_are_opaque() {
        let frame = PppFrame::parse(&[0xc0, 0x21, 1, 1]).unwrap();
        assert_eq!((frame.next(), frame.protocol()), (Next::Opaque, 0xc021));
    }

    /// The second octet must be odd; a field cut short is refused where it starts.
    #[test]
    fn broken_protocol_fields_are_refused() {
        let parse = |bytes: &[u8]| PppFrame::parse(bytes).unwrap_err();
        assert_eq!(parse(&[0, 0x20]), bad(Layer::Ppp, Reason::IllegalValue, 0));
        assert_eq!(parse(&[0xff, 3, 0]), bad(Layer::Ppp, Reason::Truncated, 2));
        assert_eq!(parse(&[]), bad(Layer::Ppp, Reason::Truncated, 0));
    }
}
