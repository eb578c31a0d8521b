//! The representation of bytes: which are text, and how others are shown.

/// How many of the first bytes are text: all, or those up to the last line end before other bytes.
pub(super) fn text_len(bytes: &[u8]) -> usize {
    let valid = match str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        // A character that goes on in the next segment.
        Err(error) if error.error_len().is_none() => bytes.len(),
        Err(error) => error.valid_up_to(),
    };
    let text = bytes.get(..valid).unwrap_or_default();
    let Some(odd) = text.iter().position(|&byte| is_odd(byte)) else {
        if valid == bytes.len() {
            return valid;
        }
        return line_end(text);
    };
    line_end(text.get(..odd).unwrap_or_default())
}

/// Bytes up to the end of the last whole line.
fn line_end(text: &[u8]) -> usize {
    text.iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1)
}

/// A control character that text does not have.
fn is_odd(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r') || byte == 0x7f
}

/// Lines of sixteen bytes: offset, hexadecimal, letters.
pub(super) fn hex_lines(offset: u64, bytes: &[u8]) -> impl Iterator<Item = String> {
    bytes.chunks(16).zip(0_u64..).map(move |(line, nth)| {
        let mut hex = String::new();
        let mut letters = String::new();
        for (at, &byte) in line.iter().enumerate() {
            let gap = if at == 8 { "  " } else { " " };
            hex.push_str(&format!("{gap}{byte:02x}"));
            let is_letter = byte.is_ascii_graphic() || byte == b' ';
            letters.push(if is_letter { char::from(byte) } else { '.' });
        }
        format!("{:08x} {hex:<49}  {letters}", offset + nth * 16)
    })
}

#[cfg(test)]
mod tests {
    use super::{hex_lines, text_len};

    /// A header is readable though its body is not; a word in the middle of binary data is not
    /// torn out.
    #[test]
    fn text_ends_with_the_last_whole_line_before_other_bytes() {
        assert_eq!(text_len(b"HTTP/1.1 200 OK\r\n\r\n\x1f\x8b\x08ab\n"), 19);
        assert_eq!(text_len(b"ab\x00cd\n"), 0);
        assert_eq!(text_len(b"all of it"), 9);
        assert_eq!(text_len("caf\u{e9}".as_bytes()), 5);
        // Cut within a character.
        assert_eq!(text_len(b"caf\xc3"), 4);
        assert_eq!(text_len(b"line\n\xff\xfe"), 5);
        assert_eq!(text_len(b""), 0);
    }

    /// Sixteen bytes a line, at their offset in the stream.
    #[test]
    fn hex_lines_have_offsets_and_letters() {
        let lines: Vec<_> = hex_lines(16, b"0123456789abcdefX\n").collect();
        assert_eq!(
            lines,
            [
                "00000010  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef",
                "00000020  58 0a                                             X.",
            ]
        );
    }
}
