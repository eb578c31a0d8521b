//! Ethernet II and IEEE 802.3 frames, from the destination address on.
//!
//! ```text
//!  0            6            12      14
//!  │destination │ source     │type or│ payload …
//!  │            │            │length │
//! ```
//!
//! Preamble and check sequence are not part of a capture, as a rule; a check sequence that is
//! there counts as padding, which the network layer's length cuts off.

use super::LlcHeader;
use crate::Next;
use crate::bytes::{be16, captured};
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// An Ethernet frame. Borrows; never copies.
#[derive(Clone, Copy, Debug)]
pub struct EthernetFrame<'a> {
    header: &'a [u8; EthernetFrame::HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> EthernetFrame<'a> {
    /// Bytes before the payload.
    pub const HEADER_LEN: usize = 14;

    /// Splits a frame.
    ///
    /// # Errors
    /// [`Reason::Truncated`] below 14 bytes.
    ///
    /// ```
    /// use flowpin_wire::{Next, link::EthernetFrame};
    /// let mut bytes = [0; 60];
    /// bytes[12..14].copy_from_slice(&[0x08, 0x00]);
    /// let frame = EthernetFrame::parse(&bytes)?;
    /// assert_eq!((frame.next(), frame.payload().len()), (Next::Ipv4, 46));
    /// # Ok::<(), flowpin_wire::Malformed>(())
    /// ```
    #[inline]
    pub const fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match bytes.split_first_chunk() {
            Some((header, payload)) => Ok(Self { header, payload }),
            None => Err(bad(Layer::Ethernet, Reason::Truncated, 0)),
        }
    }

    /// The receiver's address.
    #[inline]
    pub const fn destination(&self) -> [u8; 6] {
        let [a, b, c, d, e, f, ..] = *self.header;
        [a, b, c, d, e, f]
    }

    /// The sender's address.
    #[inline]
    pub const fn source(&self) -> [u8; 6] {
        let [_, _, _, _, _, _, a, b, c, d, e, f, ..] = *self.header;
        [a, b, c, d, e, f]
    }

    /// The type (0x600 and above) or the length of an 802.3 frame (up to 1,500).
    #[inline]
    pub const fn type_or_length(&self) -> u16 {
        u16::from_be_bytes([self.header[12], self.header[13]])
    }

    /// What the payload is.
    #[inline]
    pub const fn next(&self) -> Next {
        next_of_type_or_length(self.type_or_length())
    }

    /// What follows the type; cut to the length of an 802.3 frame.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        cut_to_length(self.payload, self.type_or_length())
    }

    /// Where the payload starts.
    #[inline]
    pub const fn header_len(&self) -> usize {
        Self::HEADER_LEN
    }
}

/// What follows a field that is a type or, up to 1,500, the length of an LLC frame
/// (IEEE 802.3 §3.2.6; the numbers between are neither).
#[inline]
pub(super) const fn next_of_type_or_length(field: u16) -> Next {
    if field > LENGTH_MAX {
        Next::from_ether_type(field)
    } else {
        Next::Llc
    }
}

/// `payload` without the padding of an 802.3 frame.
#[inline]
pub(super) fn cut_to_length(payload: &[u8], type_or_length: u16) -> &[u8] {
    if type_or_length > LENGTH_MAX {
        payload
    } else {
        captured(payload, usize::from(type_or_length))
    }
}

/// Whether `bytes` could be an Ethernet frame that carries something known.
///
/// For tunnels that do not say what they carry (pseudowires), and to refuse random bytes on a
/// tunnel's port.
pub fn looks_like_ethernet(bytes: &[u8]) -> bool {
    let Some(field) = be16(bytes, 12) else {
        return false;
    };
    let payload = bytes.get(EthernetFrame::HEADER_LEN..).unwrap_or_default();
    match next_of_type_or_length(field) {
        Next::Ipv4 | Next::Ipv6 if payload.is_empty() => true,
        ip @ (Next::Ipv4 | Next::Ipv6) => Next::from_ip_version(payload) == ip,
        Next::Opaque => OTHER_TYPES.contains(&field),
        // An 802.3 length never exceeds the frame; LLC's commonest service access points follow.
        Next::Llc => usize::from(field) <= payload.len() && has_known_access_points(payload),
        _ => true,
    }
}

/// SNAP, spanning tree, ISO, IP, IPX, NetBIOS.
fn has_known_access_points(bytes: &[u8]) -> bool {
    LlcHeader::parse(bytes).is_ok_and(|llc| {
        matches!(
            (llc.dsap(), llc.ssap()),
            (0xaa, 0xaa)
                | (0x42, 0x42)
                | (0xfe, 0xfe)
                | (0x06, 0x06)
                | (0xe0, 0xe0)
                | (0xf0, 0xf0 | 0xf1)
        )
    })
}

/// Largest length of an 802.3 frame's payload.
const LENGTH_MAX: u16 = 1500;

/// Types that tell a frame, though their payload is not read: MACsec, LLDP, 802.1X, PPPoE
/// discovery, slow protocols, flow control, CFM, PTP, FCoE, HomePlug, loopback, DEC.
const OTHER_TYPES: [u16; 13] = [
    0x6002, 0x6003, 0x8137, 0x8808, 0x8809, 0x8863, 0x888e, 0x88cc, 0x88e1, 0x88e5, 0x8902, 0x88f7,
    0x9000,
];

#[cfg(test)]
mod tests {
    use super::{EthernetFrame, looks_like_ethernet};
    use crate::Next;
    use flowpin_packet::{Layer, Reason, bad};

    fn frame(field: u16, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        bytes.extend(field.to_be_bytes());
        bytes.extend(payload);
        bytes
    }

    /// A type says what follows; the payload is the whole rest, padding included.
    #[test]
    fn a_type_names_the_payload() {
        let bytes = frame(0x86dd, &[0x60; 50]);
        let parsed = EthernetFrame::parse(&bytes).unwrap();
        assert_eq!(parsed.next(), Next::Ipv6);
        assert_eq!(parsed.payload(), &[0x60; 50]);
        assert_eq!(parsed.destination(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(parsed.source(), [7, 8, 9, 10, 11, 12]);
    }

    /// Up to 1,500 the field is a length: LLC follows, and bytes past the length are padding.
    #[test]
    fn a_length_cuts_the_padding() {
        let bytes = frame(3, &[0x42, 0x42, 3, 0, 0, 0]);
        let parsed = EthernetFrame::parse(&bytes).unwrap();
        assert_eq!(parsed.next(), Next::Llc);
        assert_eq!(parsed.payload(), [0x42, 0x42, 3]);
    }

    /// From 1,501 to 1,535 the field is neither type nor length.
    #[test]
    fn numbers_between_length_and_type_are_opaque() {
        for field in [1501, 1535] {
            let bytes = frame(field, &[0; 4]);
            assert_eq!(EthernetFrame::parse(&bytes).unwrap().next(), Next::Opaque);
        }
    }

    /// A frame without a whole header is refused at its start.
    #[test]
    fn a_short_frame_is_refused() {
        let got = EthernetFrame::parse(&[0; 13]).unwrap_err();
        assert_eq!(got, bad(Layer::Ethernet, Reason::Truncated, 0));
    }

    /// Random bytes must not pass for a frame; spanning tree and IPv4 must.
    #[test]
    fn plausibility_wants_a_known_type_or_llc() {
        assert!(looks_like_ethernet(&frame(0x0800, &[0x45])));
        assert!(looks_like_ethernet(&frame(3, &[0x42, 0x42, 3])));
        assert!(!looks_like_ethernet(&frame(0x0800, &[0x65])));
        assert!(!looks_like_ethernet(&frame(0x1234, &[0; 40])));
        assert!(!looks_like_ethernet(&frame(3, &[1, 2, 3])));
        assert!(!looks_like_ethernet(&[0; 13]));
    }
}
