//! Linux "cooked" captures, versions 1 and 2.
//!
//! ```text
//!  1  │ packet type (2) │ device type (2) │ address length (2) │ address (8) │ protocol (2) │
//!  2  │ protocol (2) │ reserved (2) │ interface (4) │ device type (2) │ … │ address (8) │
//! ```

use super::{LinkFrame, refuse};
use crate::Next;
use crate::bytes::be16;
use flowpin_packet::{LinkType, Malformed, Reason};

pub(super) fn parse(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    cooked(bytes, 16, 2, 14)
}

pub(super) fn parse_2(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    cooked(bytes, 20, 8, 0)
}

fn cooked(
    bytes: &[u8],
    header_len: usize,
    device_type_at: usize,
    protocol_at: usize,
) -> Result<LinkFrame<'_>, Malformed> {
    let short = refuse(Reason::Truncated, 0);
    let device_type = be16(bytes, device_type_at).ok_or(short)?;
    let protocol = be16(bytes, protocol_at).ok_or(short)?;
    let next = match (device_type, protocol) {
        (ARPHRD_IEEE80211, _) => Next::Link(LinkType::Ieee80211),
        (ARPHRD_IEEE80211_RADIOTAP, _) => Next::Link(LinkType::Ieee80211Radiotap),
        // The "protocol" is a netlink family.
        (ARPHRD_NETLINK, _) => Next::Opaque,
        (_, ETH_P_802_2) => Next::Llc,
        _ => Next::from_ether_type(protocol),
    };
    LinkFrame::behind(bytes, header_len, next)
}

const ARPHRD_IEEE80211: u16 = 801;
const ARPHRD_IEEE80211_RADIOTAP: u16 = 803;
const ARPHRD_NETLINK: u16 = 824;
/// Linux' own number for "an LLC header follows".
const ETH_P_802_2: u16 = 4;

#[cfg(test)]
mod tests {
    use super::super::{LinkFrame, refuse};
    use crate::Next;
    use flowpin_packet::{LinkType, Reason};

    fn next(device_type: u16, protocol: u16) -> Next {
        let mut one = [0; 17];
        one[2..4].copy_from_slice(&device_type.to_be_bytes());
        one[14..16].copy_from_slice(&protocol.to_be_bytes());
        let mut two = [0; 21];
        two[8..10].copy_from_slice(&device_type.to_be_bytes());
        two[..2].copy_from_slice(&protocol.to_be_bytes());
        let one = LinkFrame::parse(LinkType::LinuxSll, &one).unwrap();
        let two = LinkFrame::parse(LinkType::LinuxSll2, &two).unwrap();
        assert_eq!((one.header_len(), one.payload()), (16, &[0][..]));
        assert_eq!((two.header_len(), two.payload()), (20, &[0][..]));
        assert_eq!(one.next(), two.next());
        one.next()
    }

    /// Both versions say the same in different places.
    #[test]
    fn the_protocol_is_an_ether_type_as_a_rule() {
        assert_eq!(next(1, 0x0800), Next::Ipv4);
        assert_eq!(next(1, 0x8100), Next::Vlan);
        assert_eq!(next(1, 4), Next::Llc);
        assert_eq!(next(1, 1), Next::Opaque);
    }

    /// Some devices have protocols of their own.
    #[test]
    fn the_device_type_may_change_its_meaning() {
        assert_eq!(next(824, 0x0800), Next::Opaque);
        assert_eq!(next(803, 0), Next::Link(LinkType::Ieee80211Radiotap));
        assert_eq!(next(801, 0), Next::Link(LinkType::Ieee80211));
    }

    /// A header cut short is refused.
    #[test]
    fn short_headers_are_refused() {
        let short = refuse(Reason::Truncated, 0);
        assert_eq!(
            LinkFrame::parse(LinkType::LinuxSll, &[0; 15]).unwrap_err(),
            short
        );
        assert_eq!(
            LinkFrame::parse(LinkType::LinuxSll2, &[0; 19]).unwrap_err(),
            short
        );
    }
}
