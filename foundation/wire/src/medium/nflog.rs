//! NFLOG: attributes of Linux' packet filter, one of which is the packet.
//!
//! ```text
//!  0        1         2              4
//!  │ family │ version │ resource (2) │ length (2) │ type (2) │ value, padded to 4 │ …
//! ```

use super::{LinkFrame, next_of_address_family, refuse};
use crate::Next;
use crate::bytes::{be16, le16};
use flowpin_packet::{Malformed, Reason};

pub(super) fn parse(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    let Some(&[family, version, ..]) = bytes.first_chunk::<4>() else {
        return Err(refuse(Reason::Truncated, 0));
    };
    if version != 0 {
        return Err(refuse(Reason::WrongVersion, 1));
    }
    // Attributes have the recording host's byte order: nobody says which it was, but only one
    // gives lengths that lead to a packet.
    let (start, end) = find_packet(bytes, le16).or_else(|little| {
        // If neither does, the order of nearly all hosts says what is wrong.
        find_packet(bytes, be16).map_err(|_| little)
    })?;
    let mut frame = LinkFrame::behind(bytes, start, next_of_address_family(u32::from(family)))?;
    if frame.next == Next::Opaque {
        frame.next = Next::from_ip_version(frame.payload);
    }
    frame.payload = bytes.get(start..end).unwrap_or(frame.payload);
    Ok(frame)
}

/// Where the packet's attribute has its value.
fn find_packet(
    bytes: &[u8],
    read: fn(&[u8], usize) -> Option<u16>,
) -> Result<(usize, usize), Malformed> {
    let mut offset = 4usize;
    // Each attribute takes four bytes at least, so this ends with the frame.
    loop {
        let here = u16::try_from(offset).unwrap_or(u16::MAX);
        let short = refuse(Reason::Truncated, here);
        let len = usize::from(read(bytes, offset).ok_or(short)?);
        let kind = read(bytes, offset.saturating_add(2)).ok_or(short)?;
        if len < 4 {
            return Err(refuse(Reason::LengthTooSmall, here));
        }
        // The two upper bits are flags.
        if kind & 0x3fff == PAYLOAD {
            return Ok((offset.saturating_add(4), offset.saturating_add(len)));
        }
        offset = offset.saturating_add(len.next_multiple_of(4));
    }
}

const PAYLOAD: u16 = 9;

#[cfg(test)]
mod tests {
    use super::super::{LinkFrame, refuse};
    use crate::Next;
    use flowpin_packet::{LinkType, Reason};

    /// The packet is found behind other attributes, in either byte order.
    #[test]
    fn the_packet_is_one_of_the_attributes() {
        let little = [
            2, 0, 0, 5, 5, 0, 1, 0, 7, 0, 0, 0, 6, 0, 9, 0, 0x45, 0, 0, 0,
        ];
        let big = [
            10, 0, 0, 5, 0, 5, 0, 1, 7, 0, 0, 0, 0, 6, 0, 9, 0x60, 0, 0, 0,
        ];
        for (bytes, next) in [(little, Next::Ipv4), (big, Next::Ipv6)] {
            let frame = LinkFrame::parse(LinkType::Nflog, &bytes).unwrap();
            assert_eq!((frame.next(), frame.header_len()), (next, 16));
            assert_eq!(frame.payload(), &bytes[16..18]);
        }
    }

    /// A bridge's family says nothing: the packet's own version does.
    #[test]
    fn other_families_are_told_by_the_packet() {
        let bytes = [7, 0, 0, 5, 5, 0, 9, 0, 0x45];
        assert_eq!(
            LinkFrame::parse(LinkType::Nflog, &bytes).unwrap().next(),
            Next::Ipv4
        );
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        let parse = |bytes: &[u8]| LinkFrame::parse(LinkType::Nflog, bytes).unwrap_err();
        assert_eq!(parse(&[2, 0, 0]), refuse(Reason::Truncated, 0));
        assert_eq!(parse(&[2, 1, 0, 0]), refuse(Reason::WrongVersion, 1));
        assert_eq!(
            parse(&[2, 0, 0, 0, 3, 0, 1, 0]),
            refuse(Reason::LengthTooSmall, 4)
        );
        assert_eq!(
            parse(&[2, 0, 0, 0, 4, 0, 1, 0]),
            refuse(Reason::Truncated, 8)
        );
    }
}
