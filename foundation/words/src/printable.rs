//! Text of a capture on a terminal.

/// Text that does nothing but be read: no control characters but ends of lines and tabs.
///
/// ```
/// assert_eq!(flowpin_words::printable(b"\x1b[31mred\r\n"), ".[31mred\n");
/// ```
pub fn printable(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let mut letters = chunk.valid().chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\n' | '\t' => out.push(letter),
                // The end of a line on the wire.
                '\r' if matches!(letters.peek(), None | Some('\n')) => {}
                _ if letter.is_control() || is_directional(letter) => out.push('.'),
                _ => out.push(letter),
            }
        }
        out.extend(chunk.invalid().iter().map(|_| '.'));
    }
    out
}

/// Characters that reverse the direction of the text after them.
fn is_directional(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::printable;

    /// A capture must not be able to command a terminal: no escape sequence, no C1 control, no
    /// reversal of the order of letters.
    #[test]
    fn nothing_printed_is_a_command() {
        assert_eq!(
            printable(b"\x1b[31mred\x07\r\nnext\rover\n"),
            ".[31mred.\nnext.over\n"
        );
        assert_eq!(
            printable("\u{9b}31m \u{202e}x \u{e9}\t".as_bytes()),
            ".31m .x \u{e9}\t"
        );
        assert_eq!(printable(b"a\xff\xfeb"), "a..b");
    }
}
