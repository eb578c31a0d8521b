//! Logical link control (IEEE 802.2) with the subnetwork access protocol (SNAP).
//!
//! ```text
//!  0      1      2         3 (unnumbered) or 4
//!  │ DSAP │ SSAP │ control │ SNAP: organisation (3) │ protocol (2) │ payload …
//! ```

use crate::Next;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// An LLC header and, behind the SNAP service access points, SNAP's.
#[derive(Clone, Copy, Debug)]
pub struct LlcHeader<'a> {
    dsap: u8,
    ssap: u8,
    next: Next,
    header_len: u8,
    payload: &'a [u8],
}

impl<'a> LlcHeader<'a> {
    /// Reads LLC and SNAP.
    ///
    /// # Errors
    /// [`Reason::Truncated`] if the header is not whole.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let short = bad(Layer::Ethernet, Reason::Truncated, 0);
        let (&[dsap, ssap, control], _) = bytes.split_first_chunk().ok_or(short)?;
        let (next, header_len) = match (dsap, ssap, control) {
            (SNAP, SNAP, UNNUMBERED) => {
                let (header, _) = bytes.split_first_chunk::<8>().ok_or(short)?;
                let [_, _, _, o0, o1, o2, p0, p1] = *header;
                snap([o0, o1, o2], u16::from_be_bytes([p0, p1]))
            }
            (0x06, 0x06, UNNUMBERED) => (Next::Ipv4, 3),
            // RFC 1483 §4.2: ISO protocols are told by their first octet, the NLPID.
            (0xfe, 0xfe, UNNUMBERED) => match bytes.get(3) {
                Some(&0xcc) => (Next::Ipv4, 4),
                Some(&0x8e) => (Next::Ipv6, 4),
                _ => (Next::Opaque, 3),
            },
            // Only unnumbered frames (low bits 11) have one control octet.
            _ => (Next::Opaque, if control & 3 == 3 { 3 } else { 4 }),
        };
        let payload = bytes.get(usize::from(header_len)..).ok_or(short)?;
        Ok(Self {
            dsap,
            ssap,
            next,
            header_len,
            payload,
        })
    }

    /// Destination service access point.
    #[inline]
    pub const fn dsap(&self) -> u8 {
        self.dsap
    }

    /// Source service access point.
    #[inline]
    pub const fn ssap(&self) -> u8 {
        self.ssap
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
    pub fn header_len(&self) -> usize {
        usize::from(self.header_len)
    }
}

/// What follows a SNAP header, and the length of LLC, SNAP and padding together.
const fn snap(organisation: [u8; 3], protocol: u16) -> (Next, u8) {
    match (organisation, protocol) {
        // RFC 1042; IEEE 802.1H's bridge tunnel encapsulation.
        ([0, 0, 0] | [0, 0, 0xf8], _) => (Next::from_ether_type(protocol), 8),
        // RFC 2684 §5.2: bridged Ethernet with and without check sequence, two octets of padding.
        ([0, 0x80, 0xc2], 1 | 7) => (Next::Ethernet, 10),
        _ => (Next::Opaque, 8),
    }
}

const SNAP: u8 = 0xaa;
const UNNUMBERED: u8 = 3;

#[cfg(test)]
mod tests {
    use super::LlcHeader;
    use crate::Next;
    use flowpin_packet::{Layer, Reason, bad};

    fn parsed(bytes: &[u8]) -> (Next, usize) {
        let llc = LlcHeader::parse(bytes).unwrap();
        (llc.next(), llc.header_len())
    }

    /// RFC 1042: with organisation 0 the protocol is an Ethernet type.
    #[test]
    fn snap_with_organisation_zero_holds_an_ether_type() {
        assert_eq!(
            parsed(&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45]),
            (Next::Ipv4, 8)
        );
        assert_eq!(
            parsed(&[0xaa, 0xaa, 3, 0, 0, 0xf8, 0x86, 0xdd, 0x60]),
            (Next::Ipv6, 8)
        );
    }

    /// A vendor's protocol numbers are not Ethernet types.
    #[test]
    fn snap_of_a_vendor_is_opaque() {
        assert_eq!(
            parsed(&[0xaa, 0xaa, 3, 0, 0, 0x0c, 8, 0]),
            (Next::Opaque, 8)
        );
    }

    /// RFC 2684: bridged frames have two octets of padding behind SNAP.
    #[test]
    fn bridged_ethernet_is_padded() {
        let bytes = [0xaa, 0xaa, 3, 0, 0x80, 0xc2, 0, 7, 0, 0, 1];
        assert_eq!(parsed(&bytes), (Next::Ethernet, 10));
        assert_eq!(LlcHeader::parse(&bytes).unwrap().payload(), [1]);
    }

    /// ISO frames say IPv4 and IPv6 by NLPID.
    #[test]
    fn an_nlpid_names_the_payload() {
        assert_eq!(parsed(&[0xfe, 0xfe, 3, 0xcc]), (Next::Ipv4, 4));
        assert_eq!(parsed(&[0xfe, 0xfe, 3, 0x8e]), (Next::Ipv6, 4));
        assert_eq!(parsed(&[0xfe, 0xfe, 3, 0x83]), (Next::Opaque, 3));
    }

    /// Numbered frames have a second control octet.
    #[test]
    fn numbered_frames_are_opaque_behind_four_octets() {
        assert_eq!(parsed(&[0xf0, 0xf0, 0, 0, 9]), (Next::Opaque, 4));
        assert_eq!(parsed(&[0x42, 0x42, 3, 9]), (Next::Opaque, 3));
    }

    /// A header cut short is refused, also in the middle of SNAP.
    #[test]
    fn short_headers_are_refused() {
        for bytes in [
            &[0xaa, 0xaa][..],
            &[0xaa, 0xaa, 3, 0, 0, 0, 8],
            &[0xf0, 0xf0, 0],
        ] {
            let got = LlcHeader::parse(bytes).unwrap_err();
            assert_eq!(got, bad(Layer::Ethernet, Reason::Truncated, 0));
        }
    }
}
