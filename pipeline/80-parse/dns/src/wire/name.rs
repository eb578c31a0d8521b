//! Domain names, compressed or not.
//!
//! RFC 1035 §4.1.4: a name is labels, or labels and a pointer to the rest of it. What may be
//! followed is bounded: a name has 255 bytes at most, and few pointers, wherever they lead. So
//! neither a loop nor a message full of pointers to one long name costs more than its text, and
//! that has a cap of its own.

use super::cursor::Cursor;

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadName {
    /// It reaches beyond the message.
    Truncated,
    /// It has more pointers than any name needs: they lead in a circle, or mean to cost.
    PointerLoop,
    /// It is longer than 255 bytes.
    TooLong,
    /// A label's length is above 63, and it is no pointer.
    LabelType,
}

impl BadName {
    pub(crate) const fn event(self) -> &'static str {
        match self {
            Self::Truncated => "dns_truncated_name",
            Self::PointerLoop => "dns_pointer_loop",
            Self::TooLong => "dns_name_too_long",
            Self::LabelType => "dns_label_too_long",
        }
    }
}

/// Appends a name's text to `out` and moves on behind it: labels and dots, none at the end, as
/// they are spelled; a dot or backslash within a label has a backslash before it (RFC 4343 §2.1).
/// The root is no text at all.
pub(crate) fn name(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), BadName> {
    let begin = out.len();
    let mut at = cursor.at;
    // Within the name's own field first, then anywhere in the message.
    let mut end = cursor.end;
    let mut behind = None;
    let mut hops = 0u8;
    let mut wire_len = 1usize;
    loop {
        let len = *cursor.message.get(at).ok_or(BadName::Truncated)?;
        if at >= end {
            return Err(BadName::Truncated);
        }
        at = at.saturating_add(1);
        match len >> 6 {
            0 if len == 0 => break,
            0 => {
                let to = at.saturating_add(len.into());
                let label = cursor.message.get(at..to).filter(|_| to <= end);
                let label = label.ok_or(BadName::Truncated)?;
                wire_len = wire_len.saturating_add(label.len()).saturating_add(1);
                if wire_len > NAME_MAX {
                    return Err(BadName::TooLong);
                }
                put_label(out, begin, label);
                at = to;
            }
            0b11 => {
                let low = *cursor.message.get(at).ok_or(BadName::Truncated)?;
                if at >= end {
                    return Err(BadName::Truncated);
                }
                behind.get_or_insert(at.saturating_add(1));
                at = usize::from(u16::from_be_bytes([len & 0x3f, low]));
                end = cursor.message.len();
                hops = hops.saturating_add(1);
                if hops > HOPS_MAX {
                    return Err(BadName::PointerLoop);
                }
            }
            _ => return Err(BadName::LabelType),
        }
    }
    cursor.at = behind.unwrap_or(at);
    Ok(())
}

fn put_label(out: &mut Vec<u8>, begin: usize, label: &[u8]) {
    if out.len() > begin {
        out.push(b'.');
    }
    if !label.iter().any(|byte| matches!(byte, b'.' | b'\\')) {
        out.extend_from_slice(label);
        return;
    }
    for &byte in label {
        if matches!(byte, b'.' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

/// RFC 1035 §2.3.4.
const NAME_MAX: usize = 255;
/// No name written to be read has more than a few.
const HOPS_MAX: u8 = 32;

#[cfg(test)]
mod tests {
    use super::{BadName, name};
    use crate::wire::cursor::Cursor;

    fn text(message: &[u8], at: usize) -> Result<(String, usize), BadName> {
        let mut cursor = Cursor::new(message, at, message.len());
        let mut out = Vec::new();
        name(&mut cursor, &mut out)?;
        Ok((String::from_utf8_lossy(&out).into_owned(), cursor.at))
    }

    /// RFC 1035 §4.1.4, the example's F.ISI.ARPA and FOO.F.ISI.ARPA.
    #[test]
    fn names_follow_pointers() {
        let message = b"\x01F\x03ISI\x04ARPA\0\x03FOO\xc0\x00\xc0\x06\0";
        assert_eq!(text(message, 0), Ok(("F.ISI.ARPA".into(), 12)));
        assert_eq!(text(message, 12), Ok(("FOO.F.ISI.ARPA".into(), 18)));
        assert_eq!(text(message, 18), Ok(("ARPA".into(), 20)));
        assert_eq!(text(message, 20), Ok((String::new(), 21)));
    }

    /// A dot within a label is not a border between labels.
    #[test]
    fn dots_within_labels_are_escaped() {
        assert_eq!(text(b"\x03a.b\x02\\c\0", 0), Ok(("a\\.b.\\\\c".into(), 8)));
    }

    /// Nothing that a name claims is followed for ever, or beyond the message.
    #[test]
    fn names_that_cannot_be_are_refused() {
        assert_eq!(text(b"\xc0\x00", 0), Err(BadName::PointerLoop));
        assert_eq!(text(b"\x01a\xc0\x00", 0), Err(BadName::PointerLoop));
        assert_eq!(text(b"\xc0\x09", 0), Err(BadName::Truncated));
        assert_eq!(text(b"\x05ab", 0), Err(BadName::Truncated));
        assert_eq!(text(b"\xc0", 0), Err(BadName::Truncated));
        assert_eq!(text(b"", 0), Err(BadName::Truncated));
        assert_eq!(text(b"\x40a\0", 0), Err(BadName::LabelType));
        assert_eq!(text(b"\x80a\0", 0), Err(BadName::LabelType));
        let mut long = b"\x3f".repeat(64 * 4);
        long.push(0);
        assert_eq!(text(&long, 0), Err(BadName::TooLong));
        long.truncate(64 * 3);
        long.push(61);
        long.extend([b'x'; 61]);
        long.push(0);
        assert_eq!(long.len(), 255);
        assert!(text(&long, 0).is_ok());
    }
}
