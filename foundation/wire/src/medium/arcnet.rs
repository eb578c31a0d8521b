//! ARCNET: addresses of one byte; two generations of headers (RFC 1051, RFC 1201).
//!
//! ```text
//!  BSD    │ source │ destination │ type │ RFC 1201: flag │ number (2) │ payload …
//!  Linux  │ source │ destination │ offset (2) │ type │ as above       │ payload …
//! ```

use super::{LinkFrame, refuse};
use crate::Next;
use crate::bytes::be16;
use flowpin_packet::{Malformed, Reason};

pub(super) fn parse_bsd(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    parse(bytes, 2)
}

pub(super) fn parse_linux(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    parse(bytes, 4)
}

/// With the type at `type_at`.
fn parse(bytes: &[u8], type_at: usize) -> Result<LinkFrame<'_>, Malformed> {
    let truncated = refuse(Reason::Truncated, 0);
    let after_type = type_at.saturating_add(1);
    let next = match *bytes.get(type_at).ok_or(truncated)? {
        IP_OLD => return LinkFrame::behind(bytes, after_type, Next::Ipv4),
        ARP_OLD => return LinkFrame::behind(bytes, after_type, Next::Arp),
        IP => Next::Ipv4,
        IPV6 => Next::Ipv6,
        ARP => Next::Arp,
        // DIAGNOSE and others have no header that is known.
        _ => return LinkFrame::behind(bytes, after_type, Next::Opaque),
    };
    let header_len = after_type.saturating_add(3);
    match bytes.get(after_type).ok_or(truncated)? {
        0 => LinkFrame::behind(bytes, header_len, next),
        // An exception packet, padded: the header stands there twice (RFC 1201 §2).
        0xff => {
            let inner = header_len.saturating_add(1);
            be16(bytes, inner).ok_or(truncated)?;
            LinkFrame::behind(bytes, inner.saturating_add(2), next)
        }
        // A fragment of ARCNET's own.
        _ => LinkFrame::behind(bytes, header_len, Next::Opaque),
    }
}

/// Types of RFC 1051, whose header ends with them.
const IP_OLD: u8 = 240;
const ARP_OLD: u8 = 241;
/// Types of RFC 1201 (and RFC 2497 for IPv6), which splits packets itself.
const IP: u8 = 212;
const ARP: u8 = 213;
const IPV6: u8 = 196;

#[cfg(test)]
mod tests {
    use super::super::{LinkFrame, refuse};
    use crate::Next;
    use flowpin_packet::{LinkType, Reason};

    /// The type tells the generation, and with it the header's length; BSD leaves the offset out.
    #[test]
    fn the_type_tells_the_header() {
        for (kind, flag, next, len) in [
            (240, 0x45, Next::Ipv4, 3),
            (241, 0, Next::Arp, 3),
            (212, 0, Next::Ipv4, 6),
            (196, 0, Next::Ipv6, 6),
            (213, 0, Next::Arp, 6),
            (212, 0xff, Next::Ipv4, 9),
            (212, 3, Next::Opaque, 6),
            (128, 0, Next::Opaque, 3),
        ] {
            let bsd = [1, 2, kind, flag, 0, 9, 0, 0, 9, 0x45];
            let frame = LinkFrame::parse(LinkType::ArcnetBsd, &bsd).unwrap();
            assert_eq!((frame.next(), frame.header_len()), (next, len), "{kind}");
            let linux = [1, 2, 0, 0, kind, flag, 0, 9, 0, 0, 9, 0x45];
            let frame = LinkFrame::parse(LinkType::ArcnetLinux, &linux).unwrap();
            assert_eq!(
                (frame.next(), frame.header_len()),
                (next, len + 2),
                "{kind}"
            );
        }
    }

    /// A header cut short is refused wherever it ends.
    #[test]
    fn a_short_header_is_refused() {
        for bytes in [
            &[1, 2][..],
            &[1, 2, 212],
            &[1, 2, 212, 0, 0],
            &[1, 2, 212, 0xff, 0, 0, 0],
        ] {
            let got = LinkFrame::parse(LinkType::ArcnetBsd, bytes).unwrap_err();
            assert_eq!(got, refuse(Reason::Truncated, 0));
        }
    }
}
