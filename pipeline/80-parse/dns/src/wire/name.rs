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
use super::suffixes::Suffixes;
use super::text::Place;
use core::num::NonZeroU32;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// Its text, if texts are wanted: labels and dots, none at the end, as they are spelled; a dot
    /// or backslash within a label has a backslash before it (RFC 4343 §2.1). The root has none.
    pub(crate) text: Place,
    wire: Wire,
}

// PERF: a name, or what is wrong with it, travels in two registers.
const _: () = assert!(size_of::<Result<Name, BadName>>() == 16);

/// Where a name begins in the message; how long it is on the wire without pointers, with a byte
/// before each label, and the root; how many pointers were followed.
// PERF: one word, as `Place` is. Never 0: a name has one byte at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wire(NonZeroU32);

impl Wire {
    const fn new(at: u16, len: u8, hops: u8) -> Self {
        let [low, high] = at.to_le_bytes();
        let word = u32::from_le_bytes([low, high, len, hops]);
        Self(match NonZeroU32::new(word) {
            Some(word) => word,
            None => NonZeroU32::MIN,
        })
    }

    const fn at(self) -> u16 {
        let [low, high, ..] = self.0.get().to_le_bytes();
        u16::from_le_bytes([low, high])
    }

    const fn len(self) -> u8 {
        let [_, _, len, _] = self.0.get().to_le_bytes();
        len
    }

    const fn hops(self) -> u8 {
        let [.., hops] = self.0.get().to_le_bytes();
        hops
    }
}

impl Name {
    /// How long it is on the wire without pointers.
    pub(crate) fn wire_len(&self) -> usize {
        self.wire.len().into()
    }

    /// No text of a name is longer: each byte may be escaped.
    pub(crate) fn text_len_max(&self) -> usize {
        self.wire_len().saturating_mul(2)
    }

    /// The same where a pointer to it stands.
    #[inline]
    pub(super) fn pointed_at_from(&self, at: u16) -> Option<Self> {
        let hops = self.wire.hops().saturating_add(1);
        (hops <= HOPS_MAX).then(|| Self {
            text: self.text,
            wire: Wire::new(at, self.wire.len(), hops),
        })
    }

    /// The same from one of its labels on, so many bytes behind its first.
    #[inline]
    pub(super) fn behind_label(&self, at: usize, before: u8) -> Option<Self> {
        let text = self.text.range();
        let from = text.start.saturating_add(before.into()).min(text.end);
        let len = self.wire.len().checked_sub(before)?;
        Some(Self {
            text: Place::new(from, text.end),
            wire: Wire::new(u16::try_from(at).ok()?, len, self.wire.hops()),
        })
    }

    /// Length and pointers of a name that ends with this; none if they are too many.
    fn behind(&self, wire_len: usize, hops: u8) -> Option<(usize, u8)> {
        let all = wire_len.saturating_add(self.wire_len()).saturating_sub(1);
        let hops = hops.saturating_add(self.wire.hops());
        (all <= NAME_MAX && hops <= HOPS_MAX).then_some((all, hops))
    }

    /// Its bytes without pointers, if it has none.
    pub(crate) fn flat<'m>(&self, message: &'m [u8]) -> Option<&'m [u8]> {
        let at = usize::from(self.wire.at());
        let bytes = message.get(at..at.saturating_add(self.wire_len()));
        bytes.filter(|_| self.wire.hops() == 0)
    }

    /// Appends its bytes without pointers.
    pub(crate) fn put_flat(&self, message: &[u8], out: &mut Vec<u8>) {
        if let Some(flat) = self.flat(message) {
            return out.extend_from_slice(flat);
        }
        let mut at = usize::from(self.wire.at());
        let end = out.len().saturating_add(self.wire_len());
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
    put_run(out, begin, flat, 0, flat.len().saturating_sub(1));
}

/// Labels one behind the other.
#[derive(Clone, Copy)]
struct Run {
    /// Where they end: at the root's byte, or a pointer's first.
    end: usize,
    /// Where the pointer leads.
    to: Option<usize>,
}

/// Reads labels from a place on, no further than `limit`; `before`: how long the name is by then.
/// Tells where the first ones begin.
#[inline]
fn run(
    message: &[u8],
    from: usize,
    limit: usize,
    before: usize,
    mut tell: impl FnMut(usize),
) -> Result<Run, BadName> {
    let bytes = message.get(..limit).unwrap_or(message);
    // PERF: one limit for both: a name's length and its field.
    let longest = from.saturating_add(NAME_MAX.saturating_sub(before));
    let most = longest.min(bytes.len());
    let mut count = 0usize;
    let mut at = from;
    loop {
        let len = *bytes.get(at).ok_or(BadName::Truncated)?;
        match len {
            0 => return Ok(Run { end: at, to: None }),
            1..0x40 => {}
            0xc0.. => {
                let low = *bytes.get(at.saturating_add(1)).ok_or(BadName::Truncated)?;
                let to = usize::from(u16::from_be_bytes([len & 0x3f, low]));
                return Ok(Run {
                    end: at,
                    to: Some(to),
                });
            }
            _ => return Err(BadName::LabelType),
        }
        let next = at.saturating_add(usize::from(len)).saturating_add(1);
        if next > most {
            return Err(if next > bytes.len() {
                BadName::Truncated
            } else {
                BadName::TooLong
            });
        }
        if count < LABELS {
            tell(at);
            count = count.saturating_add(1);
        } else if let Some(four) = four_of_one(bytes, at)
            && four <= longest
        {
            at = four;
            continue;
        }
        at = next;
    }
}

/// The place behind four labels of one letter each, if there are such: names made of an IPv6
/// address's digits have 32 of them (RFC 3596 §2.5).
#[inline]
fn four_of_one(bytes: &[u8], at: usize) -> Option<usize> {
    let eight = bytes.get(at..)?.first_chunk()?;
    let lens = u64::from_le_bytes(*eight) & 0x00ff_00ff_00ff_00ff;
    (lens == 0x0001_0001_0001_0001).then_some(at.saturating_add(8))
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
    let nth = known.begin();
    // Within the name's own field first, then anywhere in the message.
    let own = run(message, first, cursor.end, 1, |at| {
        known.label(nth, at, at.saturating_sub(first));
    })?;
    let is_plain = !TEXT || put_run(out, begin, message, first, own.end);
    let mut wire_len = own.end.saturating_sub(first).saturating_add(1);
    let mut hops = 0u8;
    let mut next = own.to;
    while let Some(to) = next {
        hops = hops.saturating_add(1);
        if hops > HOPS_MAX {
            return Err(BadName::PointerLoop);
        }
        // What is known need not be followed, unless it makes the name too long.
        let rest = known.at(to);
        if let Some((all_len, all_hops)) = rest.and_then(|rest| rest.behind(wire_len, hops)) {
            (wire_len, hops) = (all_len, all_hops);
            if TEXT && let Some(rest) = rest {
                if out.len() > begin {
                    out.push(b'.');
                }
                out.extend_from_within(rest.text.range());
            }
            break;
        }
        let more = run(message, to, message.len(), wire_len, |_| {})?;
        if TEXT {
            put_run(out, begin, message, to, more.end);
        }
        wire_len = wire_len.saturating_add(more.end.saturating_sub(to));
        next = more.to;
    }
    let pointer = if own.to.is_some() { 2 } else { 1 };
    cursor.at = own.end.saturating_add(pointer);
    let wire_len = u8::try_from(wire_len).unwrap_or(u8::MAX);
    let first = u16::try_from(first).unwrap_or(0);
    let name = Name {
        text: Place::new(begin, out.len()),
        wire: Wire::new(first, wire_len, hops),
    };
    // Where letters were escaped, labels do not stand in the text as they do in the message.
    if is_plain {
        known.done(nth, name);
    }
    Ok(name)
}

/// Appends the text of labels that lie one behind the other; whether none needed an escape.
// PERF: all are copied at once, with their lengths; then dots take the place of these.
fn put_run(out: &mut Vec<u8>, begin: usize, message: &[u8], from: usize, end: usize) -> bool {
    let Some(bytes) = message.get(from.saturating_add(1)..end) else {
        // The root alone.
        return true;
    };
    if out.len() > begin {
        out.push(b'.');
    }
    let is_odd = |&byte: &u8| u8::from(byte == b'.') | u8::from(byte == b'\\');
    if bytes.iter().fold(0, |odd, byte| odd | is_odd(byte)) != 0 {
        put_escaped(out, message, from, end);
        return false;
    }
    let start = out.len();
    out.extend_from_slice(bytes);
    let text = out.get_mut(start..).unwrap_or_default();
    let mut at = usize::from(message.get(from).copied().unwrap_or(0));
    while let Some(len) = text.get_mut(at) {
        at = at.saturating_add(usize::from(*len)).saturating_add(1);
        *len = b'.';
    }
    true
}

/// The same, label by label; also where only a length looks like a letter.
#[cold]
fn put_escaped(out: &mut Vec<u8>, message: &[u8], from: usize, end: usize) {
    let begin = out.len();
    let mut at = from;
    while at < end {
        let len = usize::from(message.get(at).copied().unwrap_or(0));
        let next = at.saturating_add(len).saturating_add(1);
        let label = message.get(at.saturating_add(1)..next).unwrap_or_default();
        if out.len() > begin {
            out.push(b'.');
        }
        for &byte in label {
            if matches!(byte, b'.' | b'\\') {
                out.push(b'\\');
            }
            out.push(byte);
        }
        at = next;
    }
}

/// RFC 1035 §2.3.4.
const NAME_MAX: usize = 255;
/// No name written to be read has more than a few.
const HOPS_MAX: u8 = 32;
/// Of a longer name the last labels are not known to pointers.
const LABELS: usize = 8;

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
            (again.as_slice(), name.wire_len())
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

    /// RFC 3596 §2.5: an address's digits, however many labels are read at a time.
    #[test]
    fn names_of_one_letter_labels_are_read() {
        for count in 1..40 {
            let mut message = b"\x01a".repeat(count);
            message.extend(b"\x03ip6\x04arpa\0");
            let expected = "a.".repeat(count) + "ip6.arpa";
            assert_eq!(text(&message, 0), Ok((expected, message.len())));
            message.truncate(2 * count);
            assert_eq!(text(&message, 0), Err(BadName::Truncated));
        }
        let long = b"\x01a".repeat(200);
        assert_eq!(text(&long, 0), Err(BadName::TooLong));
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
