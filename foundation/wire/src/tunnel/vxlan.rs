//! VXLAN (RFC 7348) with group policies, and its generic protocol extension (VXLAN-GPE).
//!
//! ```text
//!  0              1          3               4                  7
//!  │ flags, I = 8 │ reserved │ next protocol │ network (24 bits)│ reserved │ payload …
//!  │ G = 0x80     │ policy flags, policy     │                  │          │
//! ```

use super::check_carried;
use crate::Next;
use crate::bytes::be16;
use crate::checksum::{ChecksumVerdict, verify_ipv4_header};
use crate::ip::{Ipv4Packet, Ipv6Packet};
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// A VXLAN header: an Ethernet frame follows.
#[derive(Clone, Copy, Debug)]
pub struct VxlanHeader<'a> {
    header: &'a [u8; VxlanHeader::HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> VxlanHeader<'a> {
    /// Bytes before the frame.
    pub const HEADER_LEN: usize = 8;
    /// The UDP port that IANA assigned.
    pub const PORT: u16 = 4789;
    /// The UDP port that Linux used before.
    pub const PORT_LINUX: u16 = 8472;

    /// Splits a UDP payload, if it is VXLAN without doubt: where reserved bits are set, only if an
    /// IP packet follows.
    ///
    /// # Errors
    /// [`Reason::Truncated`] if header and inner Ethernet header are not whole,
    /// [`Reason::IllegalValue`] for a missing I flag, or a payload that does not look like a frame
    /// or, with reserved bits set, has no IP packet.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Some((header, payload)) = bytes.split_first_chunk::<{ VxlanHeader::HEADER_LEN }>()
        else {
            return Err(refuse(Reason::Truncated, 0));
        };
        let legal = match header {
            // RFC 7348 §5: all other flags and reserved bits are 0.
            [NETWORK_VALID, 0, 0, 0, _, _, _, 0] => true,
            // draft-smith-vxlan-group-policy §2.1: flags D and A, then the policy.
            [GROUP_POLICY, policy_flags, _, _, _, _, _, 0] => policy_flags & !0x48 == 0,
            _ => false,
        };
        // RFC 7348 §5: a receiver ignores what is reserved; but to us it told random bytes from
        // VXLAN, for which the frame must stand in.
        if !legal && (header[0] & NETWORK_VALID == 0 || !holds_ip_packet(payload)) {
            return Err(refuse(Reason::IllegalValue, 0));
        }
        check_carried(Next::Ethernet, payload, Layer::Vxlan, 8)?;
        Ok(Self { header, payload })
    }

    /// The network's identifier (VNI, 24 bits).
    #[inline]
    pub const fn network_id(&self) -> u32 {
        u32::from_be_bytes([0, self.header[4], self.header[5], self.header[6]])
    }

    /// Always [`Next::Ethernet`].
    #[inline]
    pub const fn next(&self) -> Next {
        Next::Ethernet
    }

    /// The frame.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Where the payload starts.
    #[inline]
    pub const fn header_len(&self) -> usize {
        Self::HEADER_LEN
    }
}

/// A VXLAN-GPE header (draft-ietf-nvo3-vxlan-gpe): it names what follows.
#[derive(Clone, Copy, Debug)]
pub struct VxlanGpeHeader<'a> {
    header: &'a [u8; VxlanHeader::HEADER_LEN],
    next: Next,
    payload: &'a [u8],
}

impl<'a> VxlanGpeHeader<'a> {
    /// The UDP port that IANA assigned.
    pub const PORT: u16 = 4790;

    /// Splits a UDP payload, if it is VXLAN-GPE without doubt.
    ///
    /// # Errors
    /// [`Reason::Truncated`], [`Reason::WrongVersion`] for another version than 0,
    /// [`Reason::IllegalValue`] for reserved bits that are set or a payload that is not what the
    /// header says, [`Reason::Unsupported`] for another next protocol.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Some((header, payload)) = bytes.split_first_chunk::<{ VxlanHeader::HEADER_LEN }>()
        else {
            return Err(refuse(Reason::Truncated, 0));
        };
        if header[0] & 0x30 != 0 {
            return Err(refuse(Reason::WrongVersion, 0));
        }
        // Flags: R R version I P B O. I and P are needed; an O frame is for the operator's tools.
        if header[0] & 0xcd != NETWORK_VALID | NEXT_PROTOCOL_VALID
            || (header[1], header[2], header[7]) != (0, 0, 0)
        {
            return Err(refuse(Reason::IllegalValue, 0));
        }
        let next = match header[3] {
            1 => Next::Ipv4,
            2 => Next::Ipv6,
            3 => Next::Ethernet,
            4 => Next::Nsh,
            5 => Next::Mpls,
            _ => return Err(refuse(Reason::Unsupported, 3)),
        };
        check_carried(next, payload, Layer::Vxlan, 8)?;
        Ok(Self {
            header,
            next,
            payload,
        })
    }

    /// The network's identifier (VNI, 24 bits).
    #[inline]
    pub const fn network_id(&self) -> u32 {
        u32::from_be_bytes([0, self.header[4], self.header[5], self.header[6]])
    }

    /// What the payload is.
    #[inline]
    pub const fn next(&self) -> Next {
        self.next
    }

    /// What follows the header.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Where the payload starts.
    #[inline]
    pub const fn header_len(&self) -> usize {
        VxlanHeader::HEADER_LEN
    }
}

/// Whether a frame has an IP packet, beyond doubt, behind two tags at most.
#[cold]
fn holds_ip_packet(frame: &[u8]) -> bool {
    let mut at = 12;
    while let Some(0x8100 | 0x88a8) = be16(frame, at)
        && at < 20
    {
        at = at.saturating_add(4);
    }
    let packet = frame.get(at.saturating_add(2)..).unwrap_or_default();
    match be16(frame, at) {
        Some(0x0800) => Ipv4Packet::parse(packet, usize::MAX)
            .is_ok_and(|packet| verify_ipv4_header(&packet) == ChecksumVerdict::Good),
        Some(0x86dd) => Ipv6Packet::parse(packet, usize::MAX).is_ok(),
        _ => false,
    }
}

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Vxlan, reason, offset)
}

const NETWORK_VALID: u8 = 0x08;
const GROUP_POLICY: u8 = 0x88;
const NEXT_PROTOCOL_VALID: u8 = 0x04;

#[cfg(test)]
mod tests {
    use super::{VxlanGpeHeader, VxlanHeader, refuse};
    use crate::Next;
    use flowpin_packet::Reason;

    fn with_frame(header: [u8; 8]) -> Vec<u8> {
        [&header[..], &[2; 12], &[8, 0, 0x45, 0]].concat()
    }

    /// Plain VXLAN, and VXLAN with a group policy.
    #[test]
    fn the_network_is_read() {
        for header in [[8, 0, 0, 0, 1, 2, 3, 0], [0x88, 0x40, 0xff, 1, 1, 2, 3, 0]] {
            let bytes = with_frame(header);
            let got = VxlanHeader::parse(&bytes).unwrap();
            assert_eq!((got.network_id(), got.payload()), (0x01_0203, &bytes[8..]));
        }
    }

    /// Reserved bits tell random bytes from VXLAN, unless an IP packet does; never without the
    /// I flag.
    #[test]
    fn reserved_bits_are_ignored_before_a_packet_only() {
        let frame = |kind: &[u8], packet: &[u8]| [&[2; 12], kind, packet].concat();
        let ipv4 =
            b"\x45\0\0\x1c\0\0\0\0\x40\x11\x66\xcf\x0a\0\0\x01\x0a\0\0\x02\0\x35\0\x35\0\x08\0\0";
        let mut bad = *ipv4;
        bad[11] ^= 1;
        let ipv6 = [&[0x60, 0, 0, 0, 0, 0, 59, 64][..], &[1; 32]].concat();
        let frames = [
            (frame(&[8, 0], ipv4), true),
            (frame(&[0x86, 0xdd], &ipv6), true),
            (frame(&[0x81, 0, 0, 7, 8, 0], ipv4), true),
            (frame(&[8, 0], &bad), false),
            (frame(&[8, 0], &ipv4[..12]), false),
            (frame(&[8, 6], &[0; 28]), false),
        ];
        for header in [
            [0, 0, 0, 0, 1, 2, 3, 0],
            [8, 1, 0, 0, 1, 2, 3, 0],
            [8, 0, 0xff, 0, 1, 2, 3, 0],
            [8, 0, 0, 0, 1, 2, 3, 1],
            [0x18, 0, 0, 0, 1, 2, 3, 0],
            [0x88, 0x20, 0, 1, 1, 2, 3, 0],
            [0xff; 8],
        ] {
            let got = VxlanHeader::parse(&with_frame(header)).unwrap_err();
            assert_eq!(got, refuse(Reason::IllegalValue, 0));
            for (frame, is_packet) in &frames {
                let bytes = [&header[..], frame].concat();
                let taken = VxlanHeader::parse(&bytes).is_ok();
                assert_eq!(taken, *is_packet && header[0] != 0, "{header:?} {frame:?}");
            }
        }
    }

    /// A DNS query can begin like VXLAN; there is no frame in it.
    #[test]
    fn a_dns_query_from_port_4789_is_not_vxlan() {
        let query = b"\x08\0\0\0\0\x01\0\0\0\0\0\0\x03www\x07example\x03org\0\0\x01\0\x01";
        let got = VxlanHeader::parse(query).unwrap_err();
        assert_eq!(got, refuse(Reason::IllegalValue, 8));
        let got = VxlanHeader::parse(&query[..20]).unwrap_err();
        assert_eq!(got, refuse(Reason::Truncated, 8));
        assert_eq!(
            VxlanHeader::parse(&query[..7]).unwrap_err(),
            refuse(Reason::Truncated, 0)
        );
    }

    /// GPE names what follows, and it must be that.
    #[test]
    fn gpe_names_its_payload() {
        let ip = [0x0c, 0, 0, 1, 0, 0, 9, 0, 0x45];
        let got = VxlanGpeHeader::parse(&ip).unwrap();
        assert_eq!(
            (got.next(), got.network_id(), got.payload()),
            (Next::Ipv4, 9, &[0x45][..])
        );
        let frame = with_frame([0x0c, 0, 0, 3, 0, 0, 9, 0]);
        assert_eq!(
            VxlanGpeHeader::parse(&frame).unwrap().next(),
            Next::Ethernet
        );
    }

    /// Each rule of GPE is refused at its field.
    #[test]
    fn broken_gpe_is_refused() {
        let parse = |bytes: &[u8]| VxlanGpeHeader::parse(bytes).unwrap_err();
        assert_eq!(parse(&[0x0c; 7]), refuse(Reason::Truncated, 0));
        assert_eq!(
            parse(&[0x1c, 0, 0, 1, 0, 0, 9, 0]),
            refuse(Reason::WrongVersion, 0)
        );
        assert_eq!(
            parse(&[0x08, 0, 0, 1, 0, 0, 9, 0]),
            refuse(Reason::IllegalValue, 0)
        );
        assert_eq!(
            parse(&[0x0c, 0, 0, 9, 0, 0, 9, 0]),
            refuse(Reason::Unsupported, 3)
        );
        assert_eq!(
            parse(&[0x0c, 0, 0, 2, 0, 0, 9, 0, 0x45]),
            refuse(Reason::IllegalValue, 8)
        );
    }
}
