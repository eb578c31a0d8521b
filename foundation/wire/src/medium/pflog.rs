//! PFLOG: the log of the BSDs' packet filter.
//!
//! ```text
//!  0        1        2
//!  │ length │ family │ action, reason, interface, rule … padded to 4 │ IP packet …
//! ```

use super::{LinkFrame, next_of_address_family, refuse};
use flowpin_packet::{Malformed, Reason};

pub(super) fn parse(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    let Some(&[len, family]) = bytes.first_chunk() else {
        return Err(refuse(Reason::Truncated, 0));
    };
    // The shortest header there ever was: OpenBSD 3.4's, without its padding.
    if len < 45 {
        return Err(refuse(Reason::LengthTooSmall, 0));
    }
    let header_len = usize::from(len).next_multiple_of(4);
    LinkFrame::behind(bytes, header_len, next_of_address_family(u32::from(family)))
}

#[cfg(test)]
mod tests {
    use super::super::{LinkFrame, refuse};
    use crate::Next;
    use flowpin_packet::{LinkType, Reason};

    /// The length counts no padding: 61 means that the packet starts at 64.
    #[test]
    fn the_header_is_padded() {
        let mut bytes = [0; 70];
        (bytes[0], bytes[1]) = (61, 24);
        let frame = LinkFrame::parse(LinkType::Pflog, &bytes).unwrap();
        assert_eq!((frame.next(), frame.header_len()), (Next::Ipv6, 64));
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        let parse = |bytes: &[u8]| LinkFrame::parse(LinkType::Pflog, bytes).unwrap_err();
        assert_eq!(parse(&[61]), refuse(Reason::Truncated, 0));
        assert_eq!(parse(&[44, 2]), refuse(Reason::LengthTooSmall, 0));
        assert_eq!(parse(&[61, 2, 0]), refuse(Reason::Truncated, 0));
    }
}
