//! Checks contents against the rules of their type, for sinks that do not read the text.

use super::{AAAA, Rdata, SOA, parts, with_text};
use crate::wire::cursor::{Cursor, Short};
use crate::wire::text::Texts;

/// Returns the verdict of [`super::with_text`] without writing the text. Counts at least the length
/// that the text would have.
pub(super) fn is_bad(kind: u16, cursor: &mut Cursor<'_>, texts: &mut Texts) -> bool {
    let len = cursor.left();
    let checked = match kind {
        MX => cursor.take(2).and_then(|_| name(cursor, texts)),
        SRV => cursor.take(6).and_then(|_| name(cursor, texts)),
        SOA => names(cursor, texts).and_then(|()| cursor.take(20).map(drop)),
        TXT => strings(cursor),
        NSEC => name(cursor, texts).and_then(|()| bitmap(cursor)),
        1 | 2 | 5 | 12 | AAAA => Err(Short),
        _ => {
            let before = texts.bytes.len();
            let mut read = Rdata::default();
            with_text(kind, cursor, texts, &mut read);
            let written = texts.bytes.len().saturating_sub(before);
            texts.bytes.truncate(before);
            texts.count(written);
            return read.is_bad;
        }
    };
    // The longest text is that of a bitmap: each bit is a type, and many types have long names.
    texts.count(len.saturating_mul(TEXT_PER_BYTE).saturating_add(TEXT_FIXED));
    let good = checked.is_ok() && cursor.left() == 0;
    !good && parts(kind).is_some() && len > 0
}

fn name(cursor: &mut Cursor<'_>, texts: &mut Texts) -> Result<(), Short> {
    let name = texts.new_name::<false>(cursor).map_err(|_| Short)?;
    // Zeek's text repeats the name.
    texts.count(name.text_len_max());
    Ok(())
}

fn names(cursor: &mut Cursor<'_>, texts: &mut Texts) -> Result<(), Short> {
    name(cursor, texts)?;
    name(cursor, texts)
}

/// RFC 1035 §3.3.14: at least one string.
fn strings(cursor: &mut Cursor<'_>) -> Result<(), Short> {
    cursor.string()?;
    while cursor.left() > 0 {
        cursor.string()?;
    }
    Ok(())
}

/// RFC 4034 §4.1.2.
fn bitmap(cursor: &mut Cursor<'_>) -> Result<(), Short> {
    while cursor.left() > 0 {
        cursor.u8()?;
        cursor.string()?;
    }
    Ok(())
}

const MX: u16 = 15;
const TXT: u16 = 16;
const SRV: u16 = 33;
const NSEC: u16 = 47;
/// Eight types per byte, each with a name of up to ten letters and a space.
const TEXT_PER_BYTE: usize = 88;
/// Numbers, and the words before them.
const TEXT_FIXED: usize = 128;

#[cfg(test)]
mod tests {
    use crate::rdata::{Rdata, is_bad, read};
    use crate::wire::cursor::Cursor;
    use crate::wire::text::Texts;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// The verdict does not depend on whether the text is written, and no text is longer than
        /// its count.
        #[test]
        fn contents_are_as_bad_without_their_text(
            kind in prop_oneof![Just(1u16), Just(2), Just(6), Just(15), Just(16), Just(28),
                Just(33), Just(47), 0u16..70],
            mut contents in prop::collection::vec(prop_oneof![0u8..6, any::<u8>()], 0..60),
            nice in any::<bool>(),
        ) {
            if nice {
                contents.splice(0..0, *b"\x01a\x00");
            }
            let with = &mut Texts::with_capacity(0);
            let without = &mut Texts::with_capacity(0);
            let mut cursor = Cursor::new(&contents, 0, contents.len());
            let mut text = Rdata::default();
            read(kind, &mut cursor, with, &mut text);
            let mut cursor = Cursor::new(&contents, 0, contents.len());
            prop_assert_eq!(text.is_bad, is_bad(kind, &mut cursor, without));
            prop_assert!(with.total() <= without.total(), "{with:?} {without:?}");
        }
    }
}
