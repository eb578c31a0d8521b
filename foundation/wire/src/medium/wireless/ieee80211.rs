//! Data frames of IEEE 802.11 §9.2 and §9.3.2.
//!
//! ```text
//!  0               2          4             22         24
//!  │frame control  │ duration │ addresses 3 │ sequence │ address? │ QoS? │ HT? │ LLC …
//!  │version, type, subtype │ to DS, from DS, more, …, protected, order │
//! ```

use super::super::LinkFrame;
use super::refuse;
use crate::Next;
use crate::bytes::{be16, captured};
use flowpin_packet::{Malformed, Reason};

pub(in super::super) fn parse(bytes: &[u8]) -> Result<LinkFrame<'_>, Malformed> {
    parse_padded(bytes, false)
}

/// As [`parse`]; some adapters align the body behind the header to four bytes (`padded`).
pub(super) fn parse_padded(bytes: &[u8], padded: bool) -> Result<LinkFrame<'_>, Malformed> {
    let (control, flags) = frame_control(bytes)?;
    let (kind, subtype) = ((control >> 2) & 3, control >> 4);
    // Management and control; data frames without data; and what is encrypted.
    if kind != DATA || subtype & NO_DATA != 0 || flags & PROTECTED != 0 {
        return LinkFrame::behind(bytes, 0, Next::Opaque);
    }
    let has_qos = subtype & QOS != 0;
    let mut header_len = 24usize;
    if flags & (TO_DS | FROM_DS) == TO_DS | FROM_DS {
        header_len = header_len.saturating_add(6);
    }
    let qos_at = header_len;
    if has_qos {
        header_len = header_len.saturating_add(2);
        if flags & ORDER != 0 {
            header_len = header_len.saturating_add(4);
        }
    }
    if padded {
        header_len = header_len.next_multiple_of(4);
    }
    let short = refuse(Reason::Truncated, 0);
    let body = bytes.get(header_len..).ok_or(short)?;
    let sequence_control = bytes.get(22).ok_or(short)?;
    // Access points put fragments together before they send them on in CAPWAP, and some leave a
    // number: a body that begins with its own LLC header is no later fragment.
    let is_later = sequence_control & 0xf != 0 && !body.starts_with(&SNAP);
    if flags & MORE_FRAGMENTS != 0 || is_later {
        return Err(refuse(Reason::Unsupported, 22));
    }
    let qos_control = if has_qos {
        *bytes.get(qos_at).ok_or(short)?
    } else {
        0
    };
    if qos_control & AGGREGATED != 0 {
        return only_subframe(body, header_len);
    }
    Ok(LinkFrame {
        next: Next::Llc,
        header_len: u16::try_from(header_len).unwrap_or(u16::MAX),
        payload: body,
    })
}

/// Type and flags, with the protocol version checked.
fn frame_control(bytes: &[u8]) -> Result<(u8, u8), Malformed> {
    match bytes.first_chunk() {
        None => Err(refuse(Reason::Truncated, 0)),
        Some(&[control, flags]) if control & 3 == 0 => Ok((control, flags)),
        // Some controllers send the two octets the wrong way round in CAPWAP.
        Some(&[flags, control]) if control & 0xf == DATA << 2 => Ok((control, flags)),
        Some(_) => Err(refuse(Reason::WrongVersion, 0)),
    }
}

/// The one packet of an aggregate (A-MSDU): addresses, length, LLC. An aggregate of several is
/// refused: the others would be lost without a word.
fn only_subframe(body: &[u8], body_at: usize) -> Result<LinkFrame<'_>, Malformed> {
    const HEADER_LEN: usize = 14;
    let offset = u16::try_from(body_at).unwrap_or(u16::MAX);
    let short = refuse(Reason::Truncated, offset);
    let len = usize::from(be16(body, 12).ok_or(short)?);
    let packet = body.get(HEADER_LEN..).ok_or(short)?;
    // Behind it there may be padding (3) and a check sequence (4), but no further subframe.
    if packet.len() >= len.saturating_add(HEADER_LEN) {
        return Err(refuse(Reason::Unsupported, offset));
    }
    Ok(LinkFrame {
        next: Next::Llc,
        header_len: offset.saturating_add(14),
        payload: captured(packet, len),
    })
}

/// How LLC begins where an Ethernet type follows (IEEE 802 §9.5), and an organisation of zeros.
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
const DATA: u8 = 2;
/// Subtype bit: nothing but a header.
const NO_DATA: u8 = 4;
/// Subtype bit: a QoS control field.
const QOS: u8 = 8;
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const MORE_FRAGMENTS: u8 = 0x04;
const PROTECTED: u8 = 0x40;
const ORDER: u8 = 0x80;
/// In the first octet of QoS control: an A-MSDU.
const AGGREGATED: u8 = 0x80;

#[cfg(test)]
mod tests {
    use super::super::super::LinkFrame;
    use super::super::refuse;
    use crate::Next;
    use flowpin_packet::{LinkType, Malformed, Reason};

    fn parse(bytes: &[u8]) -> Result<(Next, usize, &[u8]), Malformed> {
        let frame = LinkFrame::parse(LinkType::Ieee80211, bytes)?;
        Ok((frame.next(), frame.header_len(), frame.payload()))
    }

    fn frame(control: [u8; 2], header_len: usize, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; header_len];
        bytes[..2].copy_from_slice(&control);
        bytes.extend(body);
        bytes
    }

    /// Header lengths grow with the fourth address, QoS and HT control.
    #[test]
    fn headers_have_many_lengths() {
        for (control, header_len) in [
            ([0x08, 0x01], 24),
            ([0x08, 0x03], 30),
            ([0x88, 0x02], 26),
            ([0x88, 0x82], 30),
            ([0x88, 0x83], 36),
        ] {
            let bytes = frame(control, header_len, &[9]);
            assert_eq!(
                parse(&bytes),
                Ok((Next::Llc, header_len, &[9][..])),
                "{control:?}"
            );
        }
    }

    /// What is no data, or cannot be read, is well formed and closed.
    #[test]
    fn other_frames_are_opaque() {
        for control in [
            [0x80, 0],
            [0xd4, 0],
            [0x48, 0x01],
            [0xc8, 0x01],
            [0x08, 0x41],
        ] {
            assert_eq!(
                parse(&frame(control, 30, &[])).unwrap().0,
                Next::Opaque,
                "{control:?}"
            );
        }
    }

    /// Frame control the wrong way round, as some controllers send it.
    #[test]
    fn swapped_frame_control_is_understood() {
        let bytes = frame([0x01, 0x08], 24, &[9]);
        assert_eq!(parse(&bytes), Ok((Next::Llc, 24, &[9][..])));
    }

    /// An aggregate of one packet is that packet; of several it is refused.
    #[test]
    fn aggregates_of_one_are_read() {
        let subframe = [&[1; 12][..], &[0, 3, 0xaa, 0xaa, 3]].concat();
        let mut bytes = frame([0x88, 0x02], 26, &subframe);
        bytes[24] = 0x80;
        assert_eq!(parse(&bytes), Ok((Next::Llc, 40, &[0xaa, 0xaa, 3][..])));
        bytes.push(0);
        bytes.extend(subframe);
        assert_eq!(parse(&bytes), Err(refuse(Reason::Unsupported, 26)));
        assert_eq!(parse(&bytes[..30]), Err(refuse(Reason::Truncated, 26)));
    }

    /// Fragments of a frame are parts only.
    #[test]
    fn fragments_are_refused() {
        let mut whole = frame([0x08, 0x01], 24, &super::SNAP);
        whole[22] = 6;
        assert_eq!(parse(&whole), Ok((Next::Llc, 24, &super::SNAP[..])));
        let mut bytes = frame([0x08, 0x01], 24, &[9]);
        bytes[22] = 1;
        assert_eq!(parse(&bytes), Err(refuse(Reason::Unsupported, 22)));
        let first = frame([0x08, 0x05], 24, &super::SNAP);
        assert_eq!(parse(&first), Err(refuse(Reason::Unsupported, 22)));
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        assert_eq!(parse(&[8]), Err(refuse(Reason::Truncated, 0)));
        assert_eq!(parse(&[0x0b, 0x03]), Err(refuse(Reason::WrongVersion, 0)));
        assert_eq!(parse(&[0x08; 23]), Err(refuse(Reason::Truncated, 0)));
    }
}
