//! Domain names, compressed or not.
//!
//! RFC 1035 §4.1.4: a name is labels, or labels and a pointer to the rest of it. What may be
//! followed is bounded: a name has 255 bytes at most, and few pointers, wherever they lead. So
//! neither a loop nor a message full of pointers to one long name costs more than its text, and
//! that has a cap of its own.
//!
//! ```text
//!  at 12   3www 7example 3org 0        a name, and two more by its suffixes
//!  at 29   c00c                        the same again: known, nothing is followed
//!  at 45   4mail c010                  a label, and what is known from byte 16 on
//! ```

use super::cursor::Cursor;
use super::text::Place;

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

/// A name that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    /// Its text, if texts are wanted: labels and dots, none at the end, as they are spelled; a dot
    /// or backslash within a label has a backslash before it (RFC 4343 §2.1). The root has none.
    pub(crate) text: Place,
    /// Where it begins in the message.
    pub(crate) at: u16,
    /// How long it is on the wire without pointers: with a byte before each label, and the root.
    pub(crate) wire_len: u8,
    /// How many pointers were followed.
    hops: u8,
}

impl Name {
    /// No text of a name is longer: each byte may be escaped.
    pub(crate) fn text_len_max(&self) -> usize {
        usize::from(self.wire_len).saturating_mul(2)
    }

    /// Its bytes without pointers, if it has none.
    pub(crate) fn flat<'m>(&self, message: &'m [u8]) -> Option<&'m [u8]> {
        let at = usize::from(self.at);
        let bytes = message.get(at..at.saturating_add(self.wire_len.into()));
        bytes.filter(|_| self.hops == 0)
    }

    /// Appends its bytes without pointers.
    pub(crate) fn put_flat(&self, message: &[u8], out: &mut Vec<u8>) {
        if let Some(flat) = self.flat(message) {
            return out.extend_from_slice(flat);
        }
        let mut at = usize::from(self.at);
        let end = out.len().saturating_add(self.wire_len.into());
        while out.len() < end {
            match message.get(at..).unwrap_or_default() {
                [high @ 0xc0..=0xff, low, ..] => {
                    at = usize::from(u16::from_be_bytes([high & 0x3f, *low]));
                }
                [len, rest @ ..] => {
                    out.push(*len);
                    out.extend_from_slice(rest.get(..usize::from(*len)).unwrap_or(rest));
                    at = at.saturating_add(usize::from(*len)).saturating_add(1);
                }
                [] => return,
            }
        }
    }
}

/// Appends the text of a name without pointers.
pub(crate) fn put_flat_text(flat: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    let mut at = 0usize;
    while let Some(&len @ 1..) = flat.get(at) {
        put_label(out, begin, flat, at.saturating_add(1), len.into());
        at = at.saturating_add(usize::from(len)).saturating_add(1);
    }
}

/// Names that were read, from each of their labels on: what a pointer leads to.
#[derive(Debug, Default)]
pub(crate) struct Suffixes([Suffix; SUFFIXES]);

/// A name from one of its labels on; at 0 in the message: none.
#[derive(Clone, Copy, Debug, Default)]
struct Suffix {
    text: Place,
    at: u16,
    wire_len: u8,
    hops: u8,
}

impl Suffix {
    /// Length and pointers of a name that ends with this; none if they are too many.
    fn behind(&self, wire_len: usize, hops: u8) -> Option<(usize, u8)> {
        let all = wire_len
            .saturating_add(self.wire_len.into())
            .saturating_sub(1);
        let hops = hops.saturating_add(self.hops);
        (all <= NAME_MAX && hops <= HOPS_MAX).then_some((all, hops))
    }
}

impl Suffixes {
    pub(crate) fn clear(&mut self) {
        self.0 = [Suffix::default(); SUFFIXES];
    }

    fn at(&self, at: usize) -> Option<&Suffix> {
        let found = self.0.get(at.wrapping_rem(SUFFIXES));
        found.filter(|suffix| suffix.at != 0 && usize::from(suffix.at) == at)
    }

    fn put(&mut self, suffix: Suffix) {
        if let Some(place) = self
            .0
            .get_mut(usize::from(suffix.at).wrapping_rem(SUFFIXES))
        {
            *place = suffix;
        }
    }

    /// A name that is only a pointer to one that is known.
    #[inline]
    pub(crate) fn pointed_at(&self, cursor: &mut Cursor<'_>) -> Option<Name> {
        let behind = cursor.at.checked_add(2).filter(|&to| to <= cursor.end)?;
        let &[high, low] = cursor.message.get(cursor.at..behind)?.first_chunk()?;
        if high < 0xc0 {
            return None;
        }
        let suffix = self.at(usize::from(u16::from_be_bytes([high & 0x3f, low])))?;
        let hops = suffix
            .hops
            .checked_add(1)
            .filter(|&hops| hops <= HOPS_MAX)?;
        let name = Name {
            text: suffix.text,
            at: u16::try_from(cursor.at).ok()?,
            wire_len: suffix.wire_len,
            hops,
        };
        cursor.at = behind;
        Some(name)
    }
}

/// A label of the name at hand: where it begins in the message and in the text, and what of the
/// name came before it.
#[derive(Clone, Copy, Default)]
struct Label {
    at: u16,
    wire_before: u8,
    hops_before: u8,
    text_from: u32,
}

/// Reads a name, appends its text to `out` if that is wanted, and moves on behind it.
pub(super) fn walk<const TEXT: bool>(
    cursor: &mut Cursor<'_>,
    known: &mut Suffixes,
    out: &mut Vec<u8>,
) -> Result<Name, BadName> {
    let begin = out.len();
    let message = cursor.message;
    let first = cursor.at;
    let mut at = first;
    // Within the name's own field first, then anywhere in the message.
    let mut end = cursor.end;
    let mut behind = None;
    let mut hops = 0u8;
    let mut wire_len = 1usize;
    let mut labels = [Label::default(); LABELS];
    let mut count = 0usize;
    loop {
        let len = *message.get(at).ok_or(BadName::Truncated)?;
        if at >= end {
            return Err(BadName::Truncated);
        }
        let begins = at;
        at = at.saturating_add(1);
        match len >> 6 {
            0 if len == 0 => break,
            0 => {
                let to = at.saturating_add(len.into());
                if to > end || to > message.len() {
                    return Err(BadName::Truncated);
                }
                let before = wire_len;
                wire_len = wire_len.saturating_add(len.into()).saturating_add(1);
                if wire_len > NAME_MAX {
                    return Err(BadName::TooLong);
                }
                if let Some(place) = labels.get_mut(count) {
                    count = count.saturating_add(1);
                    *place = Label {
                        at: u16::try_from(begins).unwrap_or(0),
                        wire_before: u8::try_from(before).unwrap_or(u8::MAX),
                        hops_before: hops,
                        text_from: u32::try_from(out.len()).unwrap_or(u32::MAX),
                    };
                }
                if TEXT {
                    put_label(out, begin, message, at, len.into());
                }
                at = to;
            }
            0b11 => {
                let low = *message.get(at).ok_or(BadName::Truncated)?;
                if at >= end {
                    return Err(BadName::Truncated);
                }
                behind.get_or_insert(at.saturating_add(1));
                at = usize::from(u16::from_be_bytes([len & 0x3f, low]));
                end = message.len();
                hops = hops.saturating_add(1);
                if hops > HOPS_MAX {
                    return Err(BadName::PointerLoop);
                }
                // What is known need not be followed, unless it makes the name too long.
                let rest = known.at(at);
                if let Some((all_len, all_hops)) = rest.and_then(|rest| rest.behind(wire_len, hops))
                {
                    (wire_len, hops) = (all_len, all_hops);
                    if TEXT && let Some(rest) = rest {
                        if out.len() > begin {
                            out.push(b'.');
                        }
                        out.extend_from_within(rest.text.range());
                    }
                    break;
                }
            }
            _ => return Err(BadName::LabelType),
        }
    }
    cursor.at = behind.unwrap_or(at);
    let wire_len = u8::try_from(wire_len).unwrap_or(u8::MAX);
    for label in labels.get(..count).unwrap_or_default() {
        // Behind the first label there is a dot.
        let text_from = label.text_from as usize;
        let dot = usize::from(TEXT && text_from > begin);
        known.put(Suffix {
            text: Place::new(text_from.saturating_add(dot), out.len()),
            at: label.at,
            wire_len: wire_len.saturating_sub(label.wire_before).saturating_add(1),
            hops: hops.saturating_sub(label.hops_before),
        });
    }
    Ok(Name {
        text: Place::new(begin, out.len()),
        at: u16::try_from(first).unwrap_or(0),
        wire_len,
        hops,
    })
}

/// Appends the text of a label that lies at a place in a message.
// PERF: eight bytes at a time, also of what lies behind it: no call for a few letters, and what
// needs an escape is found on the way.
fn put_label(out: &mut Vec<u8>, begin: usize, message: &[u8], at: usize, len: usize) {
    if out.len() > begin {
        out.push(b'.');
    }
    let from = out.len();
    let mut odd = 0u64;
    let mut done = 0usize;
    while done < len {
        let place = at.saturating_add(done);
        let rest = message.get(place..).unwrap_or_default();
        let eight = rest.first_chunk().copied().unwrap_or_else(|| padded(rest));
        let word = u64::from_le_bytes(eight);
        let beyond = 8usize.saturating_sub(len.saturating_sub(done));
        let shift = u32::try_from(beyond).unwrap_or(0).saturating_mul(8);
        odd |= (equal(word, b'.') | equal(word, b'\\')).wrapping_shl(shift);
        out.extend_from_slice(&eight);
        done = done.saturating_add(8);
    }
    if odd == 0 {
        return out.truncate(from.saturating_add(len));
    }
    out.truncate(from);
    let label = message.get(at..at.saturating_add(len)).unwrap_or_default();
    for &byte in label {
        if matches!(byte, b'.' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

/// The last bytes of a message.
fn padded(bytes: &[u8]) -> [u8; 8] {
    let mut eight = [0; 8];
    for (to, from) in eight.iter_mut().zip(bytes) {
        *to = *from;
    }
    eight
}

/// Whether a byte of a word is this one: not 0, in the lowest of them for certain.
const fn equal(word: u64, byte: u8) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let other = word ^ ONES.wrapping_mul(byte as u64);
    other.wrapping_sub(ONES) & !other & (ONES << 7)
}

/// RFC 1035 §2.3.4.
const NAME_MAX: usize = 255;
/// No name written to be read has more than a few.
const HOPS_MAX: u8 = 32;
/// Of a longer name the last labels are not known to pointers.
const LABELS: usize = 8;
const SUFFIXES: usize = 32;
#[cfg(test)]
mod tests {
    use super::{BadName, Suffixes, put_flat_text};
    use crate::wire::cursor::Cursor;
    use crate::wire::text::Texts;
    use proptest::prelude::*;

    fn text(message: &[u8], at: usize) -> Result<(String, usize), BadName> {
        read(message, at, &mut Texts::with_capacity(0))
    }

    /// What is read behind other names; the same as of bytes without pointers.
    fn read(message: &[u8], at: usize, texts: &mut Texts) -> Result<(String, usize), BadName> {
        let mut cursor = Cursor::new(message, at, message.len());
        let name = texts.name::<true>(&mut cursor)?;
        let text = texts.get(name.text).to_vec();
        let (mut flat, mut again) = (Vec::new(), Vec::new());
        name.put_flat(message, &mut flat);
        put_flat_text(&flat, &mut again);
        assert_eq!(
            (text.as_slice(), flat.len()),
            (again.as_slice(), name.wire_len.into())
        );
        Ok((String::from_utf8_lossy(&text).into_owned(), cursor.at))
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

    proptest! {
        /// A name is the same whatever names were read before it, and whether texts are wanted.
        #[test]
        fn names_before_change_nothing(
            labels in prop::collection::vec((1u8..6, any::<u8>()), 1..60),
            places in prop::collection::vec(0usize..300, 1..12),
        ) {
            let mut message = vec![0; 12];
            for (len, kind) in labels {
                match kind {
                    0..100 => {
                        message.push(len);
                        message.extend_from_slice(&b"a.\\bc"[..usize::from(len)]);
                    }
                    100..200 => message.extend([0xc0, kind]),
                    _ => message.push(0),
                }
            }
            let mut texts = Texts::with_capacity(0);
            let mut counted = Texts::with_capacity(0);
            for at in places {
                let alone = text(&message, at);
                prop_assert_eq!(&read(&message, at, &mut texts), &alone);
                let mut cursor = Cursor::new(&message, at, message.len());
                let name = counted.name::<false>(&mut cursor);
                prop_assert_eq!(name.map(|_| cursor.at), alone.map(|(_, at)| at));
            }
            prop_assert!(counted.bytes.is_empty() && counted.total() >= texts.total());
        }
    }

    /// A pointer of its own leads to no known name.
    #[test]
    fn nothing_is_known_at_first() {
        let mut cursor = Cursor::new(b"\xc0\x00", 0, 2);
        assert_eq!(Suffixes::default().pointed_at(&mut cursor), None);
    }
}
