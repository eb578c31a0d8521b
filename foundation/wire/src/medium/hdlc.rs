//! Serial lines: PPP in HDLC-like framing (RFC 1662), and Cisco's HDLC.
//!
//! ```text
//!  Cisco  │ address 0x0f or 0x8f │ control 0 │ Ethernet type (2) │ payload …
//! ```

use super::{LinkFrame, refuse};
use crate::Next;
use crate::bytes::be16;
use flowpin_packet::{Malformed, Reason};

/// LINKTYPE_PPP_SERIAL: either framing, told by the address. LINKTYPE_PPP too: some write Cisco's
/// framing under it, and no PPP frame begins so (0x0f00 and 0x8f00 are no protocols: RFC 1661 §2;
/// 0x0f and 0x8f alone are not assigned).
pub(super) fn parse(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    match bytes {
        [UNICAST | MULTICAST, 0, ..] => parse_cisco(bytes),
        _ => Ok(LinkFrame::bare(Next::Ppp, bytes)),
    }
}

pub(super) fn parse_cisco(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    let next = match be16(bytes, 2).ok_or(refuse(Reason::Truncated, 0))? {
        // Keep-alives of the line, which have taken RARP's number.
        SLARP => Next::Opaque,
        ether_type => Next::from_ether_type(ether_type),
    };
    LinkFrame::behind(bytes, 4, next)
}

const UNICAST: u8 = 0x0f;
const MULTICAST: u8 = 0x8f;
const SLARP: u16 = 0x8035;

#[cfg(test)]
mod tests {
    use super::super::{LinkFrame, refuse};
    use crate::Next;
    use flowpin_packet::{LinkType, Reason};

    /// Cisco's framing holds an Ethernet type; one of them is not what Ethernet says it is.
    #[test]
    fn cisco_frames_hold_an_ether_type() {
        let next = |bytes: &[u8]| LinkFrame::parse(LinkType::CiscoHdlc, bytes).unwrap().next();
        assert_eq!(next(&[0x0f, 0, 8, 0]), Next::Ipv4);
        assert_eq!(next(&[0x8f, 0, 0x80, 0x35]), Next::Opaque);
    }

    /// On a serial line the address tells PPP from Cisco's framing.
    #[test]
    fn the_address_tells_the_framing() {
        let ppp = [0xff, 3, 0, 0x21];
        let frame = LinkFrame::parse(LinkType::PppSerial, &ppp).unwrap();
        assert_eq!((frame.next(), frame.header_len()), (Next::Ppp, 0));
        for link in [LinkType::PppSerial, LinkType::Ppp] {
            let frame = LinkFrame::parse(link, &[0x0f, 0, 0x86, 0xdd]).unwrap();
            assert_eq!((frame.next(), frame.header_len()), (Next::Ipv6, 4));
        }
    }

    /// A header cut short is refused.
    #[test]
    fn a_short_header_is_refused() {
        let got = LinkFrame::parse(LinkType::CiscoHdlc, &[0x0f, 0, 8]).unwrap_err();
        assert_eq!(got, refuse(Reason::Truncated, 0));
    }
}
