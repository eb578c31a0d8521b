//! Frame Relay: RFC 2427's encapsulation, and Cisco's.
//!
//! ```text
//!  │ address (2 to 4, last bit of the last one set) │
//!      │ control 3 │ padding 0? │ NLPID │ SNAP's organisation and protocol? │ payload …
//!      │ Ethernet type (2) │ payload …                                          Cisco
//! ```

use super::{LinkFrame, refuse};
use crate::Next;
use flowpin_packet::{Malformed, Reason};

pub(super) fn parse(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    // Q.922 §3.3: the extension bit is 0 in all octets of the address but the last.
    let address_len = bytes
        .iter()
        .take(4)
        .position(|octet| octet & 1 == 1)
        .map(|at| at.saturating_add(1));
    let address_len = match address_len {
        Some(len @ 2..) => len,
        Some(_) => return Err(refuse(Reason::IllegalValue, 0)),
        None if bytes.len() < 4 => return Err(refuse(Reason::Truncated, 0)),
        None => return Err(refuse(Reason::IllegalValue, 3)),
    };
    let rest = bytes.get(address_len..).unwrap_or_default();
    let (next, skipped) = match *rest {
        // RFC 2427 §3: padding aligns what follows SNAP.
        [UI, 0, NLPID_SNAP, a, b, c, d, e, ..] => (snap([a, b, c], [d, e]), 8),
        [UI, NLPID_SNAP, a, b, c, d, e, ..] => (snap([a, b, c], [d, e]), 7),
        [UI, NLPID_IPV4, ..] => (Next::Ipv4, 2),
        [UI, NLPID_IPV6, ..] => (Next::Ipv6, 2),
        [UI, ..] => (Next::Opaque, 1),
        [high, low, ..] => (Next::from_ether_type(u16::from_be_bytes([high, low])), 2),
        _ => return Err(refuse(Reason::Truncated, 2)),
    };
    LinkFrame::behind(bytes, address_len.saturating_add(skipped), next)
}

/// RFC 2427 §4: organisation 0 means an Ethernet type; 802's, a bridged frame.
const fn snap(organisation: [u8; 3], protocol: [u8; 2]) -> Next {
    match (organisation, u16::from_be_bytes(protocol)) {
        ([0, 0, 0], ether_type) => Next::from_ether_type(ether_type),
        ([0, 0x80, 0xc2], 1 | 7) => Next::Ethernet,
        _ => Next::Opaque,
    }
}

/// Unnumbered information.
const UI: u8 = 3;
const NLPID_SNAP: u8 = 0x80;
const NLPID_IPV6: u8 = 0x8e;
const NLPID_IPV4: u8 = 0xcc;

#[cfg(test)]
mod tests {
    use super::super::{LinkFrame, refuse};
    use crate::Next;
    use flowpin_packet::{LinkType, Malformed, Reason};

    fn parse(bytes: &[u8]) -> Result<(Next, usize), Malformed> {
        let frame = LinkFrame::parse(LinkType::FrameRelay, bytes)?;
        Ok((frame.next(), frame.header_len()))
    }

    /// Every encapsulation of RFC 2427, and Cisco's.
    #[test]
    fn encapsulations_are_told_apart() {
        assert_eq!(parse(&[0x18, 0x41, 3, 0xcc, 0x45]), Ok((Next::Ipv4, 4)));
        assert_eq!(parse(&[0x18, 0x40, 0x41, 3, 0x8e]), Ok((Next::Ipv6, 5)));
        assert_eq!(
            parse(&[0x18, 0x41, 3, 0, 0x80, 0, 0, 0, 8, 0]),
            Ok((Next::Ipv4, 10))
        );
        assert_eq!(
            parse(&[0x18, 0x41, 3, 0x80, 0, 0x80, 0xc2, 0, 7]),
            Ok((Next::Ethernet, 9))
        );
        assert_eq!(parse(&[0x18, 0x41, 8, 0, 0x45]), Ok((Next::Ipv4, 4)));
        assert_eq!(parse(&[0, 1, 3, 8, 0, 0x75]), Ok((Next::Opaque, 3)));
    }

    /// Addresses have two to four octets.
    #[test]
    fn broken_addresses_are_refused() {
        assert_eq!(
            parse(&[0x19, 0x41, 3]),
            Err(refuse(Reason::IllegalValue, 0))
        );
        assert_eq!(
            parse(&[0, 0, 0, 0, 3]),
            Err(refuse(Reason::IllegalValue, 3))
        );
        assert_eq!(parse(&[0, 0, 0]), Err(refuse(Reason::Truncated, 0)));
        assert_eq!(parse(&[0x18, 0x41, 8]), Err(refuse(Reason::Truncated, 2)));
    }
}
