//! BSD loopback: the address family, in four bytes of either order.
//!
//! LINKTYPE_NULL has the recording host's byte order, LINKTYPE_LOOP network order; files with
//! the wrong one of the two names exist, so both are told by their value.

use super::{LinkFrame, next_of_address_family, refuse};
use crate::bytes::le32;
use flowpin_packet::{Malformed, Reason};

pub(super) fn parse(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    let value = le32(bytes, 0).ok_or(refuse(Reason::Truncated, 0))?;
    // No address family needs more than 16 bits.
    let family = if value > 0xffff {
        value.swap_bytes()
    } else {
        value
    };
    LinkFrame::behind(bytes, 4, next_of_address_family(family))
}

#[cfg(test)]
mod tests {
    use super::super::{LinkFrame, refuse};
    use crate::Next;
    use flowpin_packet::{LinkType, Reason};

    /// Every system's number for IPv6, in either byte order.
    #[test]
    fn families_of_all_systems_are_known() {
        for (family, next) in [
            (2u32, Next::Ipv4),
            (10, Next::Ipv6),
            (23, Next::Ipv6),
            (24, Next::Ipv6),
            (28, Next::Ipv6),
            (30, Next::Ipv6),
            (7, Next::Opaque),
        ] {
            for bytes in [family.to_le_bytes(), family.to_be_bytes()] {
                for link in [LinkType::Null, LinkType::Loop] {
                    let frame = LinkFrame::parse(link, &bytes).unwrap();
                    assert_eq!((frame.next(), frame.header_len()), (next, 4));
                }
            }
        }
    }

    /// Three bytes are no header.
    #[test]
    fn a_short_header_is_refused() {
        let got = LinkFrame::parse(LinkType::Null, &[2, 0, 0]).unwrap_err();
        assert_eq!(got, refuse(Reason::Truncated, 0));
    }
}
