//! Text off the wire, any bytes, as each format's readers expect it.
//!
//! ```text
//!  a\tb"é\xff   JSON   a\tb\"é\\xff     valid UTF-8 as it is, other bytes as a literal \xff
//!               Zeek   a\x09b"é\xff     control characters, separators and backslashes too
//!               CSV    "a\x09b""é\xff"  quoted where RFC 4180 wants it; a record is one line
//!               plain  a⇥b"é\xff        Parquet: only what is no UTF-8
//! ```

use crate::text::{TextBuffer, copy_plain, hex};

/// Appends a JSON string, with its quotes.
pub(super) fn put_json(text: &mut TextBuffer, bytes: &[u8]) {
    // PERF: nearly all text is plain: it is copied while it is looked at.
    let room = text.room(bytes.len() + 2);
    if let Some((quote, rest)) = room.split_first_mut() {
        *quote = b'"';
        if copy_plain(bytes, rest)
            && let Some(quote) = rest.get_mut(bytes.len())
        {
            *quote = b'"';
            return text.advance(bytes.len() + 2);
        }
    }
    put_json_escaped(text, bytes);
}

#[inline(never)]
fn put_json_escaped(text: &mut TextBuffer, bytes: &[u8]) {
    text.extend(b"\"");
    put_json_part(text, bytes);
    text.extend(b"\"");
}

/// Appends a part of a JSON string.
pub(super) fn put_json_part(text: &mut TextBuffer, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        put_json_valid(text, chunk.valid().as_bytes());
        for &byte in chunk.invalid() {
            let [high, low] = hex(byte);
            text.extend(&[b'\\', b'\\', b'x', high, low]);
        }
    }
}

fn put_json_valid(text: &mut TextBuffer, bytes: &[u8]) {
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x80 || JSON_PLAIN[usize::from(byte)] {
            continue;
        }
        text.extend(bytes.get(from..at).unwrap_or_default());
        from = at + 1;
        let [high, low] = hex(byte);
        match byte {
            b'"' => text.extend(b"\\\""),
            b'\\' => text.extend(b"\\\\"),
            b'\n' => text.extend(b"\\n"),
            b'\r' => text.extend(b"\\r"),
            b'\t' => text.extend(b"\\t"),
            _ => text.extend(&[b'\\', b'u', b'0', b'0', high, low]),
        }
    }
    text.extend(bytes.get(from..).unwrap_or_default());
}

/// Printable ASCII that needs no escape in JSON.
const JSON_PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0x20;
    while byte < 0x7f {
        table[byte] = byte != b'"' as usize && byte != b'\\' as usize;
        byte += 1;
    }
    table
};

/// Appends text as Zeek's ASCII writer has it; `in_set`: commas separate.
pub(super) fn put_zeek(text: &mut TextBuffer, bytes: &[u8], in_set: bool) {
    match bytes {
        b"" => return text.extend(b"(empty)"),
        b"-" => return text.extend(b"\\x2d"),
        b"(empty)" => return text.extend(b"\\x28empty)"),
        _ => {}
    }
    // PERF: nearly all text is plain: it is copied while it is looked at.
    let is_one = !in_set || !bytes.contains(&b',');
    if is_one && copy_plain(bytes, text.room(bytes.len())) {
        return text.advance(bytes.len());
    }
    let is_plain =
        |byte: u8| (0x20..0x7f).contains(&byte) && byte != b'\\' && (byte != b',' || !in_set);
    put_hex_escaped(text, bytes, is_plain);
}

/// Appends a field of a CSV line; if it is to be `safe`, no formula.
pub(super) fn put_csv(text: &mut TextBuffer, bytes: &[u8], safe: bool) {
    let guard: &[u8] = if safe && is_formula(bytes) { b"'" } else { b"" };
    let is_plain = |byte: u8| (0x20..0x7f).contains(&byte) && !matches!(byte, b'"' | b',');
    if bytes.iter().all(|&byte| is_plain(byte)) {
        text.extend(guard);
        return text.extend(bytes);
    }
    text.extend(b"\"");
    text.extend(guard);
    for (index, part) in bytes.split(|&byte| byte == b'"').enumerate() {
        if index > 0 {
            text.extend(b"\"\"");
        }
        put_hex_escaped(text, part, |byte| (0x20..0x7f).contains(&byte));
    }
    text.extend(b"\"");
}

/// Whether a spreadsheet would take a text for a formula, by OWASP's list: what begins with `=`,
/// `+`, `-` or `@`, also in full width, and is no number. Control characters never come first: they
/// are escaped.
pub(super) fn is_formula(bytes: &[u8]) -> bool {
    match bytes {
        [b'=' | b'@', ..] => true,
        [b'+' | b'-', number @ ..] => !is_number(number),
        // U+FF0B, U+FF0D, U+FF1D, U+FF20.
        [0xef, 0xbc, 0x8b | 0x8d | 0x9d | 0xa0, ..] => true,
        _ => false,
    }
}

/// Digits, perhaps with a point among them.
fn is_number(bytes: &[u8]) -> bool {
    let mut parts = bytes.splitn(2, |&byte| byte == b'.');
    let is_digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    parts.all(is_digits)
}

/// Appends a member of a list in a CSV field that is quoted already: spaces separate.
pub(super) fn put_csv_member(text: &mut TextBuffer, bytes: &[u8]) {
    for (index, part) in bytes.split(|&byte| byte == b'"').enumerate() {
        if index > 0 {
            text.extend(b"\"\"");
        }
        put_hex_escaped(text, part, |byte| (0x21..0x7f).contains(&byte));
    }
}

/// Appends what is plain or valid UTF-8 beyond ASCII as it is, other bytes as `\xHH`.
fn put_hex_escaped(text: &mut TextBuffer, bytes: &[u8], is_plain: impl Fn(u8) -> bool) {
    if bytes.iter().all(|&byte| is_plain(byte)) {
        return text.extend(bytes);
    }
    let put_escape = |text: &mut TextBuffer, byte| {
        let [high, low] = hex(byte);
        text.extend(&[b'\\', b'x', high, low]);
    };
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid().as_bytes();
        let mut from = 0;
        for (at, &byte) in valid.iter().enumerate() {
            if byte < 0x80 && !is_plain(byte) {
                text.extend(valid.get(from..at).unwrap_or_default());
                put_escape(text, byte);
                from = at + 1;
            }
        }
        text.extend(valid.get(from..).unwrap_or_default());
        chunk
            .invalid()
            .iter()
            .for_each(|&byte| put_escape(text, byte));
    }
}

/// Text as it stands in Parquet: bytes that are no UTF-8 as `\xHH`.
pub(crate) fn plain_text(bytes: &[u8], out: &mut String) {
    out.clear();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for &byte in chunk.invalid() {
            let [high, low] = hex(byte);
            out.extend(['\\', 'x', char::from(high), char::from(low)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{plain_text, put_csv, put_json, put_zeek};
    use crate::text::TextBuffer;
    use proptest::prelude::*;

    fn text(write: impl FnOnce(&mut TextBuffer)) -> String {
        let mut buffer = TextBuffer::default();
        write(&mut buffer);
        String::from_utf8(buffer.as_slice().to_vec()).unwrap()
    }

    /// The forms of the module's picture.
    #[test]
    fn each_format_escapes_as_its_readers_expect() {
        let bytes = b"a\tb\"\xc3\xa9\xff\\";
        assert_eq!(text(|to| put_json(to, bytes)), r#""a\tb\"é\\xff\\""#);
        assert_eq!(text(|to| put_zeek(to, bytes, false)), r#"a\x09b"é\xff\x5c"#);
        assert_eq!(text(|to| put_csv(to, bytes, false)), r#""a\x09b""é\xff\""#);
        assert_eq!(text(|to| put_zeek(to, b"a,b", true)), r"a\x2cb");
        assert_eq!(text(|to| put_zeek(to, b"a,b", false)), "a,b");
        assert_eq!(text(|to| put_zeek(to, b"-", false)), r"\x2d");
        assert_eq!(text(|to| put_zeek(to, b"", false)), "(empty)");
        let mut plain = String::new();
        plain_text(bytes, &mut plain);
        assert_eq!(plain, "a\tb\"é\\xff\\");
    }

    /// What begins like a formula has an apostrophe in front, inside of quotes; numbers stay.
    #[test]
    fn a_safe_cell_is_no_formula() {
        for (bytes, cell) in [
            (&b"=1+1"[..], "'=1+1"),
            (b"@SUM(A1)", "'@SUM(A1)"),
            (b"+49 30 1", "'+49 30 1"),
            (b"-cmd", "'-cmd"),
            (b"-", "'-"),
            (b"-1-2", "'-1-2"),
            (b"=a,\"b", "\"'=a,\"\"b\""),
            ("＝1".as_bytes(), "\"'＝1\""),
            (b"-12.5", "-12.5"),
            (b"+7", "+7"),
            (b"a=b", "a=b"),
            (b"", ""),
        ] {
            assert_eq!(text(|to| put_csv(to, bytes, true)), cell);
        }
        assert_eq!(text(|to| put_csv(to, b"=1+1", false)), "=1+1");
    }

    proptest! {
        /// Any bytes give one line, which a JSON reader takes; UTF-8 comes back as it was.
        #[test]
        fn any_bytes_are_one_line_and_valid(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let json = text(|to| put_json(to, &bytes));
            let back: String = serde_json::from_str(&json).unwrap();
            if let Ok(valid) = core::str::from_utf8(&bytes) {
                prop_assert_eq!(back, valid);
            }
            let zeek = text(|to| put_zeek(to, &bytes, true));
            let csv = text(|to| put_csv(to, &bytes, false));
            for line in [&json, &zeek, &csv] {
                prop_assert!(!line.contains(['\n', '\r', '\t']));
            }
            prop_assert!(!zeek.contains(','));
        }
    }
}
