//! Domain names, with or without compression.
//!
//! RFC 1035 §4.1.4: a name is a sequence of labels, or labels and a pointer to the rest. Following
//! pointers is bounded: a name has at most 255 bytes and few pointers, wherever they lead. So
//! neither a loop nor a message full of pointers to one long name costs more than its text, which
//! has a cap of its own.
//!
//! ```text
//!  at 12   3www 7example 3org 0        a name, and its two suffixes
//!  at 29   c00c                        the same name: known, not followed
//!  at 45   4mail c010                  a label, and the suffix known from byte 16
//! ```

use super::cursor::Cursor;
use super::suffixes::Suffixes;
use super::text::ByteRange;
use core::num::NonZeroU32;

/// An error in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadName {
    /// The name reaches beyond the message.
    Truncated,
    /// The name has more pointers than any name needs: they form a loop or are costly on purpose.
    PointerLoop,
    /// The name is longer than 255 bytes.
    TooLong,
    /// The length of a label is above 63, and it is not a pointer.
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

/// A parsed name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// The text, if texts are wanted: the labels as spelled, separated by dots, without a final
    /// dot; a dot or backslash within a label gets a backslash (RFC 4343 §2.1). The text of the
    /// root is empty.
    pub(crate) text: ByteRange,
    wire: Wire,
}

// PERF: a name or its error is passed in two registers.
const _: () = assert!(size_of::<Result<Name, BadName>>() == 16);

/// Start of a name in the message; its length on the wire without pointers, including the length
/// byte of each label and the root; the number of pointers followed.
// PERF: one word, like `ByteRange`. Never 0: a name has at least one byte.
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
    /// Returns the length on the wire without pointers.
    pub(crate) fn wire_len(&self) -> usize {
        self.wire.len().into()
    }

    /// Returns the maximum length of the text: each byte may be escaped.
    pub(crate) fn text_len_max(&self) -> usize {
        self.wire_len().saturating_mul(2)
    }

    /// Returns the same name as seen through a pointer at `at`.
    #[inline]
    pub(super) fn pointed_at_from(&self, at: u16) -> Option<Self> {
        let hops = self.wire.hops().saturating_add(1);
        (hops <= HOPS_MAX).then(|| Self {
            text: self.text,
            wire: Wire::new(at, self.wire.len(), hops),
        })
    }

    /// Returns the suffix of the name that starts with the label at `at`, `before` bytes after its
    /// first label.
    #[inline]
    pub(super) fn suffix_at(&self, at: usize, before: u8) -> Option<Self> {
        let text = self.text.range();
        let from = text.start.saturating_add(before.into()).min(text.end);
        let len = self.wire.len().checked_sub(before)?;
        Some(Self {
            text: ByteRange::new(from, text.end),
            wire: Wire::new(u16::try_from(at).ok()?, len, self.wire.hops()),
        })
    }

    /// Returns length and pointers of a longer name that ends with this one; `None` if either is
    /// too large.
    fn as_suffix(&self, wire_len: usize, hops: u8) -> Option<(usize, u8)> {
        let all = wire_len.saturating_add(self.wire_len()).saturating_sub(1);
        let hops = hops.saturating_add(self.wire.hops());
        (all <= NAME_MAX && hops <= HOPS_MAX).then_some((all, hops))
    }

    /// Returns the bytes without pointers, if the name has no pointers.
    pub(crate) fn flat<'m>(&self, message: &'m [u8]) -> Option<&'m [u8]> {
        let at = usize::from(self.wire.at());
        let bytes = message.get(at..at.saturating_add(self.wire_len()));
        bytes.filter(|_| self.wire.hops() == 0)
    }

    /// Appends the bytes without pointers.
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

/// A sequence of adjacent labels.
#[derive(Clone, Copy)]
struct Run {
    /// End of the labels: the byte of the root, or the first byte of a pointer.
    end: usize,
    /// Target of the pointer.
    to: Option<usize>,
}

/// Reads labels from `from` up to `limit`; `before` is the length of the name so far. Calls
/// `on_label` with the position of the first labels.
#[inline]
fn run(
    message: &[u8],
    from: usize,
    limit: usize,
    before: usize,
    mut on_label: impl FnMut(usize),
) -> Result<Run, BadName> {
    let bytes = message.get(..limit).unwrap_or(message);
    // PERF: one limit covers the length of the name and the end of its field.
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
            on_label(at);
            count = count.saturating_add(1);
        } else if let Some(four) = skip_four_short_labels(bytes, at)
            && four <= longest
        {
            at = four;
            continue;
        }
        at = next;
    }
}

/// Returns the position after four labels of one letter each, if there are such labels: names made
/// of an IPv6 address have 32 of them (RFC 3596 §2.5).
#[inline]
fn skip_four_short_labels(bytes: &[u8], at: usize) -> Option<usize> {
    let eight = bytes.get(at..)?.first_chunk()?;
    let lens = u64::from_le_bytes(*eight) & 0x00ff_00ff_00ff_00ff;
    (lens == 0x0001_0001_0001_0001).then_some(at.saturating_add(8))
}

/// Reads a name, appends its text to `out` if `TEXT` is set, and moves the cursor past the name.
pub(super) fn walk<const TEXT: bool>(
    cursor: &mut Cursor<'_>,
    known: &mut Suffixes,
    out: &mut Vec<u8>,
) -> Result<Name, BadName> {
    let begin = out.len();
    let message = cursor.message;
    let first = cursor.at;
    let nth = known.begin();
    // Labels before the first pointer must lie within the field, those after it anywhere in the
    // message.
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
        // A known suffix need not be followed, unless it makes the name too long.
        let rest = known.at(to);
        if let Some((all_len, all_hops)) = rest.and_then(|rest| rest.as_suffix(wire_len, hops)) {
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
        text: ByteRange::new(begin, out.len()),
        wire: Wire::new(first, wire_len, hops),
    };
    // With escapes, the labels have other positions in the text than in the message.
    if is_plain {
        known.done(nth, name);
    }
    Ok(name)
}

/// Appends the text of adjacent labels; returns whether none needed an escape.
// PERF: copies all labels at once with their lengths, then replaces the lengths with dots.
fn put_run(out: &mut Vec<u8>, begin: usize, message: &[u8], from: usize, end: usize) -> bool {
    let Some(bytes) = message.get(from.saturating_add(1)..end) else {
        // The root only.
        return true;
    };
    if out.len() > begin {
        out.push(b'.');
    }
    let needs_escape = |&byte: &u8| u8::from(byte == b'.') | u8::from(byte == b'\\');
    if bytes
        .iter()
        .fold(0, |found, byte| found | needs_escape(byte))
        != 0
    {
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

/// Like [`put_run`], label by label; also used if a length has the value of a dot or backslash.
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
/// No name in ordinary use has more than a few.
const HOPS_MAX: u8 = 32;
/// Labels after these are not known to pointers.
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

    /// Returns the text of a name read after other names, and compares it with the text of the
    /// bytes without pointers.
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

    /// RFC 1035 §4.1.4: F.ISI.ARPA and FOO.F.ISI.ARPA of the example.
    #[test]
    fn names_follow_pointers() {
        let message = b"\x01F\x03ISI\x04ARPA\0\x03FOO\xc0\x00\xc0\x06\0";
        assert_eq!(text(message, 0), Ok(("F.ISI.ARPA".into(), 12)));
        assert_eq!(text(message, 12), Ok(("FOO.F.ISI.ARPA".into(), 18)));
        assert_eq!(text(message, 18), Ok(("ARPA".into(), 20)));
        assert_eq!(text(message, 20), Ok((String::new(), 21)));
    }

    /// RFC 3596 §2.5: the digits of an address are read, however many labels are read at a time.
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

    /// A dot within a label does not separate labels.
    #[test]
    fn dots_within_labels_are_escaped() {
        assert_eq!(text(b"\x03a.b\x02\\c\0", 0), Ok(("a\\.b.\\\\c".into(), 8)));
    }

    /// Nothing in a name is followed without end or beyond the message.
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
        /// A name does not depend on the names read before it, nor on whether texts are wanted.
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
                let separate = text(&message, at);
                prop_assert_eq!(&read(&message, at, &mut texts), &separate);
                let mut cursor = Cursor::new(&message, at, message.len());
                let name = counted.name::<false>(&mut cursor);
                prop_assert_eq!(name.map(|_| cursor.at), separate.map(|(_, at)| at));
            }
            prop_assert!(counted.bytes.is_empty() && counted.total() >= texts.total());
        }
    }

    /// A pointer to itself does not lead to a known name.
    #[test]
    fn nothing_is_known_at_first() {
        let mut cursor = Cursor::new(b"\xc0\x00", 0, 2);
        assert_eq!(Suffixes::default().pointed_at(&mut cursor), None);
    }
}
