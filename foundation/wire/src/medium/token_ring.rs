//! Token ring (IEEE 802.5), with source routes.
//!
//! ```text
//!  0                1               2                 8            14
//!  │ access control │ frame control │ destination (6) │ source (6) │ route … │ LLC …
//! ```

use super::{LinkFrame, refuse};
use crate::Next;
use flowpin_packet::{Malformed, Reason};

pub(super) fn parse(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    let Some(header) = bytes.first_chunk::<14>() else {
        return Err(refuse(Reason::Truncated, 0));
    };
    // The first two bits of frame control tell LLC from the ring's own frames.
    if header[1] >> 6 != 1 {
        return LinkFrame::behind(bytes, 14, Next::Opaque);
    }
    let mut header_len = 14usize;
    // The group bit of a source address announces a route; five bits of it are its length.
    if header[8] & 0x80 != 0 {
        let control = bytes.get(14).ok_or(refuse(Reason::Truncated, 14))?;
        let route_len = usize::from(control & 0x1f);
        if route_len < 2 {
            return Err(refuse(Reason::LengthTooSmall, 14));
        }
        header_len = header_len.saturating_add(route_len);
    }
    LinkFrame::behind(bytes, header_len, Next::Llc)
}

#[cfg(test)]
mod tests {
    use super::super::{LinkFrame, refuse};
    use crate::Next;
    use flowpin_packet::{LinkType, Malformed, Reason};

    fn parse(bytes: &[u8]) -> Result<(Next, usize), Malformed> {
        let frame = LinkFrame::parse(LinkType::TokenRing, bytes)?;
        Ok((frame.next(), frame.header_len()))
    }

    /// A route stands between addresses and LLC if the source address says so.
    #[test]
    fn routes_are_skipped() {
        let mut bytes = [0; 22];
        bytes[1] = 0x40;
        assert_eq!(parse(&bytes), Ok((Next::Llc, 14)));
        (bytes[8], bytes[14]) = (0x80, 6);
        assert_eq!(parse(&bytes), Ok((Next::Llc, 20)));
        bytes[14] = 1;
        assert_eq!(parse(&bytes), Err(refuse(Reason::LengthTooSmall, 14)));
        bytes[14] = 30;
        assert_eq!(parse(&bytes), Err(refuse(Reason::Truncated, 0)));
        assert_eq!(parse(&bytes[..14]), Err(refuse(Reason::Truncated, 14)));
        assert_eq!(parse(&bytes[..13]), Err(refuse(Reason::Truncated, 0)));
    }

    /// The ring's own frames carry nothing of ours.
    #[test]
    fn ring_management_is_opaque() {
        assert_eq!(parse(&[0; 20]), Ok((Next::Opaque, 14)));
    }
}
