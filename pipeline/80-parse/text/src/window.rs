//! The window: the part of a token on which operations work.

/// The text without `front` bytes at its beginning and `back` bytes at its end.
pub(crate) fn trimmed(text: &[u8], front: u16, back: u16) -> &[u8] {
    let rest = text.get(usize::from(front)..).unwrap_or_default();
    let len = rest.len().saturating_sub(usize::from(back));
    rest.get(..len).unwrap_or_default()
}

/// The `nth` word between blanks, from 1; empty if there are fewer.
pub(crate) fn word(text: &[u8], nth: u16) -> &[u8] {
    let words = text.split(u8::is_ascii_whitespace);
    let mut words = words.filter(|word| !word.is_empty());
    words
        .nth(usize::from(nth).saturating_sub(1))
        .unwrap_or_default()
}

/// The text from its `nth` word on, from 1, without trailing blanks.
pub(crate) fn rest(text: &[u8], nth: u16) -> &[u8] {
    let mut rest = text.trim_ascii();
    for _ in 1..nth {
        let after_word = rest.get(word_len(rest)..).unwrap_or_default();
        rest = after_word.trim_ascii_start();
    }
    rest
}

/// The number of bytes before the first blank; all if there is none.
fn word_len(text: &[u8]) -> usize {
    let mut len = 0usize;
    // PERF: eight at a time, since the end of a loop over single bytes is hard to predict.
    for eight in text.as_chunks::<8>().0 {
        let bits = u64::from_le_bytes(*eight);
        // The top bit of each byte that may be below 0x21; no such byte is missed.
        let low = bits.wrapping_sub(0x2121_2121_2121_2121) & !bits & 0x8080_8080_8080_8080;
        if low != 0 {
            // The lowest candidate is below 0x21 for certain, and rarely not a blank.
            let at = len.saturating_add((low.trailing_zeros() / 8) as usize);
            if text.get(at).is_some_and(u8::is_ascii_whitespace) {
                return at;
            }
            break;
        }
        len = len.saturating_add(8);
    }
    let rest = text.get(len..).unwrap_or_default();
    let blank = rest.iter().position(u8::is_ascii_whitespace);
    blank.map_or(text.len(), |at| len.saturating_add(at))
}

/// The text after the first such byte; all if there is none.
pub(crate) fn after(text: &[u8], byte: u8) -> &[u8] {
    let at = text.iter().position(|&other| other == byte);
    at.and_then(|at| text.get(at.saturating_add(1)..))
        .unwrap_or(text)
}

/// The text before the first such byte; all if there is none.
pub(crate) fn before(text: &[u8], byte: u8) -> &[u8] {
    let at = text.iter().position(|&other| other == byte);
    at.and_then(|at| text.get(..at)).unwrap_or(text)
}

/// The text before the first such text in letters of either case; all if there is none.
pub(crate) fn before_text<'t>(text: &'t [u8], end: &[u8]) -> &'t [u8] {
    let Some(&first) = end.first() else {
        return text;
    };
    let (small, capital) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let begins = |at: &usize| {
        let here = text.get(*at..at.saturating_add(end.len()));
        here.is_some_and(|here| here.eq_ignore_ascii_case(end))
    };
    let at = memchr::memchr2_iter(small, capital, text).find(begins);
    at.and_then(|at| text.get(..at)).unwrap_or(text)
}

/// The text from the last such byte on; empty if there is none.
pub(crate) fn from_last(text: &[u8], byte: u8) -> &[u8] {
    let at = memchr::memrchr(byte, text);
    at.and_then(|at| text.get(at..)).unwrap_or_default()
}

/// The text between the first `begin` and the next `end`, both outside quoted strings (RFC 5322
/// §3.2.4: a backslash quotes the next byte); all if there are none.
pub(crate) fn between(text: &[u8], begin: u8, end: u8) -> &[u8] {
    let inside = unquoted(text, begin).and_then(|at| text.get(at.saturating_add(1)..));
    let Some(inside) = inside else {
        return text;
    };
    let end = unquoted_end(inside, end);
    end.and_then(|at| inside.get(..at)).unwrap_or(inside)
}

/// The same with both bytes.
pub(crate) fn between_with(text: &[u8], begin: u8, end: u8) -> &[u8] {
    let Some(from) = unquoted(text, begin).and_then(|at| text.get(at..)) else {
        return text;
    };
    let inside = from.get(1..).unwrap_or_default();
    let end = unquoted_end(inside, end).map(|at| at.saturating_add(2));
    end.and_then(|at| from.get(..at)).unwrap_or(from)
}

/// The position of the byte that ends what is between; an unterminated quoted string quotes
/// nothing.
fn unquoted_end(inside: &[u8], end: u8) -> Option<usize> {
    unquoted(inside, end).or_else(|| inside.iter().position(|&byte| byte == end))
}

/// The position of the first such byte outside quoted strings.
fn unquoted(text: &[u8], wanted: u8) -> Option<usize> {
    let mut is_quoted = false;
    let mut is_escaped = false;
    text.iter().position(|&byte| {
        let is_it = byte == wanted && !is_quoted;
        is_quoted ^= byte == b'"' && !is_escaped;
        is_escaped = is_quoted && byte == b'\\' && !is_escaped;
        is_it
    })
}

/// The number that the whole text spells.
pub(crate) fn number(text: &[u8], base: u8) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |value, &byte| {
        let digit = char::from(byte).to_digit(u32::from(base))?;
        value
            .checked_mul(u64::from(base))?
            .checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::{
        after, before, before_text, between, from_last, number, rest, trimmed, word, word_len,
    };

    /// Windows never exceed the text, for any arguments.
    #[test]
    fn windows_stay_within_the_text() {
        assert_eq!(trimmed(b"$12\r\n", 1, 2), b"12");
        assert_eq!(trimmed(b"ab", 1, 9), b"");
        assert_eq!(trimmed(b"ab", 9, 1), b"");
        assert_eq!(word(b" get  key \r\n", 2), b"key");
        assert_eq!(word(b"get", 2), b"");
        assert_eq!(rest(b"SIP/2.0 404 Not Found\r\n", 3), b"Not Found");
        assert_eq!(rest(b"a b", 4), b"");
        assert_eq!(after(b"From: <a>", b'<'), b"a>");
        assert_eq!(after(b"From", b'<'), b"From");
        assert_eq!(before(b"a;b", b';'), b"a");
        assert_eq!(from_last(b"a.b.\n", b'.'), b".\n");
        assert_eq!(from_last(b"a", b'.'), b"");
        assert_eq!(before_text(b"<a>;x=1;Tag=2", b";tag="), b"<a>;x=1");
        assert_eq!(before_text(b";ta", b";tag="), b";ta");
        assert_eq!(before_text(b"", b";tag="), b"");
        assert_eq!(before_text(b"a", b""), b"a");
    }

    /// RFC 5321 §4.1.2: the local part of a mailbox may be a quoted string, in which `>` does not
    /// end the path.
    #[test]
    fn delimiters_inside_quoted_strings_are_ignored() {
        for (text, expected) in [
            (b"FROM:<a@b> AUTH=<>".as_slice(), b"a@b".as_slice()),
            (b"<\"a b>c\"@d> SIZE=1", b"\"a b>c\"@d"),
            (b"\"x <y>\" <z>", b"z"),
            (b"<\"a\\\">b\\\\\"@c>", b"\"a\\\">b\\\\\"@c"),
            (b"<a\"b@c> d", b"a\"b@c"),
            (b"<>", b""),
            (b"<a", b"a"),
            (b"a>", b"a>"),
        ] {
            assert_eq!(between(text, b'<', b'>'), expected);
        }
    }

    /// A word of any length and content ends at the first blank.
    #[test]
    fn words_end_at_the_first_blank() {
        for len in 0..40usize {
            for odd in [b'x', 1, 0x1f, 0x21, 0x7f, 0x80, 0xa0, 0xff] {
                for blank in [b' ', b'\t', b'\n', b'\r', 0x0c] {
                    let mut text = vec![b'n'; len];
                    text.insert(len / 2, odd);
                    assert_eq!(word_len(&text), len + 1);
                    text.extend_from_slice(&[blank, odd, b' ']);
                    assert_eq!(word_len(&text), len + 1, "{odd} {blank}");
                }
            }
        }
    }

    /// A number consists of digits, and fits 64 bits.
    #[test]
    fn numbers_are_all_digits() {
        assert_eq!(number(b"18446744073709551615", 10), Some(u64::MAX));
        assert_eq!(number(b"18446744073709551616", 10), None);
        assert_eq!(number(b"fF", 16), Some(255));
        assert_eq!(number(b"", 10), None);
        assert_eq!(number(b"-1", 10), None);
    }
}
