//! Juniper's header in front of Ethernet, as far as publicly described.
//!
//! ```text
//!  0              3       4 (if the flags say so)
//!  │ 'M' 'G' 'C'  │ flags │ length (2) │ extensions … │ frame, or 4 bytes and an IP packet …
//! ```

use super::{LinkFrame, refuse};
use crate::Next;
use crate::bytes::be16;
use flowpin_packet::{Malformed, Reason};

pub(super) fn parse(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    let Some(&[magic @ .., flags]) = bytes.first_chunk::<4>() else {
        return Err(refuse(Reason::Truncated, 0));
    };
    if magic != *b"MGC" {
        return Err(refuse(Reason::IllegalValue, 0));
    }
    let mut header_len = 4usize;
    if flags & EXTENSIONS != 0 {
        let extensions_len = be16(bytes, 4).ok_or(refuse(Reason::Truncated, 4))?;
        header_len = usize::from(extensions_len).saturating_add(6);
    }
    if flags & NO_LINK_HEADER == 0 {
        return LinkFrame::behind(bytes, header_len, Next::Ethernet);
    }
    LinkFrame::behind(bytes, header_len.saturating_add(4), Next::Ip)
}

const NO_LINK_HEADER: u8 = 0x02;
const EXTENSIONS: u8 = 0x80;

#[cfg(test)]
mod tests {
    use super::super::{LinkFrame, refuse};
    use crate::Next;
    use flowpin_packet::{LinkType, Malformed, Reason};

    fn parse(bytes: &[u8]) -> Result<(Next, usize), Malformed> {
        let frame = LinkFrame::parse(LinkType::JuniperEther, bytes)?;
        Ok((frame.next(), frame.header_len()))
    }

    /// Extensions, and the lack of a link header, are flags.
    #[test]
    fn flags_tell_what_follows() {
        assert_eq!(parse(b"MGC\x01abc"), Ok((Next::Ethernet, 4)));
        assert_eq!(parse(b"MGC\x80\0\x02abc"), Ok((Next::Ethernet, 8)));
        assert_eq!(parse(b"MGC\x82\0\x02ab\0\0\0\x02\x45"), Ok((Next::Ip, 12)));
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        assert_eq!(parse(b"MGC"), Err(refuse(Reason::Truncated, 0)));
        assert_eq!(parse(b"MGD\0"), Err(refuse(Reason::IllegalValue, 0)));
        assert_eq!(parse(b"MGC\x80\0"), Err(refuse(Reason::Truncated, 4)));
        assert_eq!(parse(b"MGC\x80\0\x02a"), Err(refuse(Reason::Truncated, 0)));
    }
}
