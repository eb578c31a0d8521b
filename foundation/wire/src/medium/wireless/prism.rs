//! Prism and AVS headers: what older drivers said of a frame, then the frame.
//!
//! ```text
//!  Prism  │ message code (4) │ length (4), of either byte order │ …
//!  AVS    │ 0x80211001 (4) │ length (4) │ …                        big-endian
//! ```

use super::super::LinkFrame;
use super::ieee80211::parse;
use super::refuse;
use crate::bytes::{be32, le32};
use flowpin_packet::{Malformed, Reason};

pub(in super::super) fn parse_prism(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    // Drivers that write AVS headers use Prism's link type too.
    if be32(bytes, 0).is_some_and(|code| code & AVS_MASK == AVS_MAGIC) {
        return parse_avs(bytes);
    }
    let short = refuse(Reason::Truncated, 0);
    let (little, big) = (le32(bytes, 4).ok_or(short)?, be32(bytes, 4).ok_or(short)?);
    // The smaller reading is the right one: headers are far below 64 KiB.
    behind(bytes, little.min(big))
}

pub(in super::super) fn parse_avs(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    let short = refuse(Reason::Truncated, 0);
    if be32(bytes, 0).ok_or(short)? & AVS_MASK != AVS_MAGIC {
        return Err(refuse(Reason::WrongVersion, 0));
    }
    behind(bytes, be32(bytes, 4).ok_or(short)?)
}

fn behind(bytes: &[u8], header_len: u32) -> Result<LinkFrame<'_>, Malformed> {
    let Ok(header_len) = u16::try_from(header_len) else {
        return Err(refuse(Reason::LengthBeyondPacket, 4));
    };
    if header_len < 8 {
        return Err(refuse(Reason::LengthTooSmall, 4));
    }
    let frame = bytes
        .get(usize::from(header_len)..)
        .ok_or(refuse(Reason::Truncated, 0))?;
    Ok(parse(frame)?.behind_another(header_len))
}

const AVS_MAGIC: u32 = 0x8021_1000;
const AVS_MASK: u32 = 0xffff_f000;

#[cfg(test)]
mod tests {
    use super::super::super::LinkFrame;
    use super::super::refuse;
    use crate::Next;
    use flowpin_packet::{LinkType, Malformed, Reason};

    fn parse(link: LinkType, header: &[u8]) -> Result<(Next, usize), Malformed> {
        let mut bytes = header.to_vec();
        bytes.extend([0x08, 0x01]);
        bytes.extend([0; 30]);
        let frame = LinkFrame::parse(link, &bytes)?;
        Ok((frame.next(), frame.header_len()))
    }

    /// The length has the recording host's byte order.
    #[test]
    fn prism_lengths_have_either_order() {
        let little = [0x44, 0, 0, 0, 12, 0, 0, 0, 9, 9, 9, 9];
        let big = [0, 0, 0, 0x44, 0, 0, 0, 12, 9, 9, 9, 9];
        for header in [little, big] {
            assert_eq!(
                parse(LinkType::Ieee80211Prism, &header),
                Ok((Next::Llc, 36))
            );
        }
    }

    /// AVS headers are found under either link type.
    #[test]
    fn avs_headers_are_known_by_their_magic() {
        let avs = [0x80, 0x21, 0x10, 0x01, 0, 0, 0, 12, 9, 9, 9, 9];
        for link in [LinkType::Ieee80211Prism, LinkType::Ieee80211Avs] {
            assert_eq!(parse(link, &avs), Ok((Next::Llc, 36)));
        }
        let got = parse(LinkType::Ieee80211Avs, &[0; 12]);
        assert_eq!(got, Err(refuse(Reason::WrongVersion, 0)));
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_lengths_are_refused() {
        let prism = |len: [u8; 4]| {
            let header = [&[0x44, 0, 0, 0][..], &len].concat();
            parse(LinkType::Ieee80211Prism, &header)
        };
        assert_eq!(prism([7, 0, 0, 0]), Err(refuse(Reason::LengthTooSmall, 4)));
        assert_eq!(prism([0, 4, 0, 0]), Err(refuse(Reason::Truncated, 0)));
        assert_eq!(
            prism([1, 1, 1, 1]),
            Err(refuse(Reason::LengthBeyondPacket, 4))
        );
        let got = LinkFrame::parse(LinkType::Ieee80211Avs, &[0x80]).unwrap_err();
        assert_eq!(got, refuse(Reason::Truncated, 0));
    }
}
