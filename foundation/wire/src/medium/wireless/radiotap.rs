//! Radiotap: what the radio said of a frame, then the frame.
//!
//! ```text
//!  0         1         2            4 (all little-endian)
//!  │ version │ padding │ length (2) │ present (4, more if bit 31 is set) │ fields … │ frame …
//! ```

use super::super::LinkFrame;
use super::ieee80211::parse_padded;
use super::refuse;
use crate::bytes::{le16, le32};
use flowpin_packet::{Malformed, Reason};

pub(in super::super) fn parse_radiotap(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    let short = refuse(Reason::Truncated, 0);
    if *bytes.first().ok_or(short)? != 0 {
        return Err(refuse(Reason::WrongVersion, 0));
    }
    let header_len = le16(bytes, 2).ok_or(short)?;
    if header_len < 8 {
        return Err(refuse(Reason::LengthTooSmall, 2));
    }
    let (header, frame) = bytes
        .split_at_checked(usize::from(header_len))
        .ok_or(short)?;
    let padded = flags(header).is_some_and(|flags| flags & DATA_PADDED != 0);
    Ok(parse_padded(frame, padded)?.behind_another(header_len))
}

/// The flags field: the second one, behind a time stamp aligned to eight bytes.
fn flags(header: &[u8]) -> Option<u8> {
    let present = le32(header, 4)?;
    if present & FLAGS == 0 {
        return None;
    }
    let mut fields_at = 8usize;
    let mut last = present;
    while last & MORE_PRESENT != 0 {
        last = le32(header, fields_at)?;
        fields_at = fields_at.saturating_add(4);
    }
    if present & TIME_STAMP != 0 {
        fields_at = fields_at.next_multiple_of(8).saturating_add(8);
    }
    header.get(fields_at).copied()
}

const TIME_STAMP: u32 = 1;
const FLAGS: u32 = 1 << 1;
const MORE_PRESENT: u32 = 1 << 31;
/// The body is aligned to four bytes.
const DATA_PADDED: u8 = 0x20;

#[cfg(test)]
mod tests {
    use super::super::super::LinkFrame;
    use super::super::refuse;
    use crate::Next;
    use flowpin_packet::{LinkType, Malformed, Reason};

    fn parse(bytes: &[u8]) -> Result<(Next, usize), Malformed> {
        let frame = LinkFrame::parse(LinkType::Ieee80211Radiotap, bytes)?;
        Ok((frame.next(), frame.header_len()))
    }

    fn frame(radiotap: &[u8]) -> Vec<u8> {
        let mut bytes = radiotap.to_vec();
        bytes.extend([0x88, 0x02]);
        bytes.extend([0; 40]);
        bytes
    }

    /// The radio's header is skipped by its length.
    #[test]
    fn the_frame_follows_the_header() {
        assert_eq!(
            parse(&frame(&[0, 0, 9, 0, 4, 0, 0, 0, 2])),
            Ok((Next::Llc, 35))
        );
    }

    /// A flag says that the body is aligned; it stands behind all present words and the stamp.
    #[test]
    fn padding_is_announced_by_a_flag() {
        assert_eq!(
            parse(&frame(&[0, 0, 9, 0, 2, 0, 0, 0, 0x20])),
            Ok((Next::Llc, 37))
        );
        let mut header = vec![0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0];
        header.extend([7; 8]);
        header.push(0x20);
        assert_eq!(parse(&frame(&header)), Ok((Next::Llc, 53)));
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        assert_eq!(parse(&[0, 0, 8]), Err(refuse(Reason::Truncated, 0)));
        assert_eq!(parse(&[1, 0, 8, 0]), Err(refuse(Reason::WrongVersion, 0)));
        assert_eq!(parse(&[0, 0, 7, 0]), Err(refuse(Reason::LengthTooSmall, 2)));
        assert_eq!(parse(&[0, 0, 8, 0]), Err(refuse(Reason::Truncated, 0)));
    }
}
