//! Names: pointers, escapes, refused names, and independence of the names before.

use super::{BadName, put_flat_text};
use crate::wire::cursor::Cursor;
use crate::wire::suffixes::Suffixes;
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
