//! Per-packet information: fields of the capture, then a frame of a link type it names.
//!
//! ```text
//!  0         1       2            4 (all little-endian)
//!  │ version │ flags │ length (2) │ link type (4) │ fields … │ frame …
//! ```

use super::{LinkFrame, refuse};
use crate::Next;
use crate::bytes::{le16, le32};
use flowpin_packet::{LinkType, Malformed, Reason};

pub(super) fn parse(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    let short = refuse(Reason::Truncated, 0);
    if *bytes.first().ok_or(short)? != 0 {
        return Err(refuse(Reason::WrongVersion, 0));
    }
    let header_len = usize::from(le16(bytes, 2).ok_or(short)?);
    let link = le32(bytes, 4).ok_or(short)?;
    if header_len < 8 {
        return Err(refuse(Reason::LengthTooSmall, 2));
    }
    let next = match link {
        0 => Next::Link(LinkType::Null),
        1 => Next::Ethernet,
        9 => Next::Ppp,
        12 | 14 | 101 => Next::Ip,
        105 => Next::Link(LinkType::Ieee80211),
        113 => Next::Link(LinkType::LinuxSll),
        119 => Next::Link(LinkType::Ieee80211Prism),
        127 => Next::Link(LinkType::Ieee80211Radiotap),
        163 => Next::Link(LinkType::Ieee80211Avs),
        228 => Next::Ipv4,
        229 => Next::Ipv6,
        _ => Next::Opaque,
    };
    LinkFrame::behind(bytes, header_len, next)
}

#[cfg(test)]
mod tests {
    use super::super::{LinkFrame, refuse};
    use crate::Next;
    use flowpin_packet::{LinkType, Malformed, Reason};

    fn parse(bytes: &[u8]) -> Result<(Next, usize), Malformed> {
        let frame = LinkFrame::parse(LinkType::Ppi, bytes)?;
        Ok((frame.next(), frame.header_len()))
    }

    /// The header names the link type behind it.
    #[test]
    fn the_link_type_is_inside() {
        let bytes = [0, 0, 10, 0, 105, 0, 0, 0, 9, 9, 8];
        assert_eq!(parse(&bytes), Ok((Next::Link(LinkType::Ieee80211), 10)));
        let unknown = [0, 0, 8, 0, 250, 0, 0, 0];
        assert_eq!(parse(&unknown), Ok((Next::Opaque, 8)));
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        assert_eq!(parse(&[0, 0, 8]), Err(refuse(Reason::Truncated, 0)));
        assert_eq!(
            parse(&[1, 0, 8, 0, 1, 0, 0, 0]),
            Err(refuse(Reason::WrongVersion, 0))
        );
        assert_eq!(
            parse(&[0, 0, 7, 0, 1, 0, 0, 0]),
            Err(refuse(Reason::LengthTooSmall, 2))
        );
        assert_eq!(
            parse(&[0, 0, 9, 0, 1, 0, 0, 0]),
            Err(refuse(Reason::Truncated, 0))
        );
    }
}
