//! Just enough of C's tokens to find brackets and names in text.

/// The first byte from `at` on that is no blank, comment or continued line.
pub(super) fn skip_blank(text: &[u8], mut at: usize) -> usize {
    while let Some(byte) = text.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => at += 1,
            b'\\' if matches!(text.get(at + 1), Some(b'\n')) => at += 2,
            b'\\' if text.get(at + 1..at + 3) == Some(b"\r\n") => at += 3,
            b'/' if text.get(at + 1) == Some(&b'*') => {
                at = find(text, at + 2, b"*/").map_or(text.len(), |end| end + 2);
            }
            b'/' if text.get(at + 1) == Some(&b'/') => {
                at = find(text, at, b"\n").unwrap_or(text.len());
            }
            _ => return at,
        }
    }
    at
}

fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = text.get(from..)?;
    let found = rest.windows(what.len()).position(|window| window == what)?;
    Some(from + found)
}

/// The byte after the `(` that follows a name, over the `)` of a name in parentheses.
pub(super) fn after_open(text: &[u8], name_end: usize) -> Option<usize> {
    let mut at = skip_blank(text, name_end);
    while text.get(at) == Some(&b')') {
        at = skip_blank(text, at + 1);
    }
    (text.get(at) == Some(&b'(')).then_some(at + 1)
}

/// The position of the `)` that closes what was open before `at`.
pub(super) fn closing(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 1_usize;
    loop {
        at = skip_blank(text, at);
        match text.get(at)? {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            b'"' | b'\'' => {
                at += quoted_len(text, at).unwrap_or(1);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

/// What the strings between two bytes hold, one after another.
pub(super) fn strings(text: &[u8], from: usize, end: usize) -> Vec<u8> {
    let mut found = Vec::new();
    let mut at = from;
    while at < end {
        match quoted_len(text, at) {
            Some(len) => {
                found.extend_from_slice(text.get(at..at + len).unwrap_or_default());
                at += len;
            }
            None => at += 1,
        }
    }
    found
}

/// Whether text holds a name as a whole word.
pub(super) fn has_word(text: &[u8], name: &[u8]) -> bool {
    let mut words = text.split(|byte| !is_word(*byte));
    words.any(|word| word == name)
}

/// How long the string or character at a byte is; none if there is neither.
pub(super) fn quoted_len(text: &[u8], at: usize) -> Option<usize> {
    let quote = *text.get(at)?;
    let is_quote = quote == b'"' || quote == b'\'' && !is_separator(text, at);
    is_quote.then(|| after_quote(text, at, quote) - at)
}

/// Whether a `'` stands between digits of a number (`1'000`, C23).
fn is_separator(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let is_part = |byte: &u8| is_word(*byte) || matches!(byte, b'\'' | b'.');
    let start = before.iter().rposition(|byte| !is_part(byte));
    let first = before.get(start.map_or(0, |it| it + 1));
    first.is_some_and(u8::is_ascii_digit)
}

fn after_quote(text: &[u8], open: usize, quote: u8) -> usize {
    let mut at = open + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' if text.get(at + 1..at + 3) == Some(b"\r\n") => at += 3,
            b'\\' => at += 2,
            byte if *byte == quote => return at + 1,
            // Text that is left out may hold one quote alone (`#error don't`).
            b'\n' => return at,
            _ => at += 1,
        }
    }
    at
}

/// What stands in the parentheses that are open before `at`: nothing, `void`, or something.
pub(super) enum Inside {
    /// `()`
    Nothing,
    /// `(void)`: where the word begins and ends.
    Void(usize, usize),
    /// Anything else.
    Something,
}

/// What stands in the parentheses that are open before `at`.
pub(super) fn inside(text: &[u8], at: usize) -> Inside {
    let first = skip_blank(text, at);
    if text.get(first) == Some(&b')') {
        return Inside::Nothing;
    }
    let word_end = first + 4;
    let is_void = text.get(first..word_end) == Some(b"void");
    if is_void && text.get(skip_blank(text, word_end)) == Some(&b')') {
        return Inside::Void(first, word_end);
    }
    Inside::Something
}

/// All identifiers outside comments and strings, each with its first byte.
pub(crate) fn identifiers(text: &[u8]) -> Vec<(usize, &[u8])> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let next = skip_blank(text, at);
        if next != at {
            at = next;
        } else if let Some(len) = quoted_len(text, at) {
            at += len;
        } else if is_word(*byte) {
            let rest = text.get(at..).unwrap_or_default();
            let len = rest.iter().take_while(|byte| is_word(**byte)).count();
            if !byte.is_ascii_digit() {
                found.push((at, rest.get(..len).unwrap_or_default()));
            }
            at += len;
        } else {
            at += 1;
        }
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The line of a byte, counted from 1.
pub(super) fn line_of(text: &[u8], at: usize) -> usize {
    let before = text.get(..at).unwrap_or(text);
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::{after_open, closing, identifiers};

    /// Blanks, comments, continued lines and parentheses may stand between a name and its `(`.
    #[test]
    fn the_bracket_of_a_name_is_found() {
        for text in [
            "f(x)",
            "f /* ( */ (x)",
            "f)(x)",
            "f \\\n  (x)",
            "f // (\n(x)",
        ] {
            let at = after_open(text.as_bytes(), 1).unwrap();
            assert!(text[at..].starts_with('x'), "{text}");
        }
        assert_eq!(after_open(b"f, (x)", 1), None);
    }

    /// Brackets in strings and comments do not count.
    #[test]
    fn closing_brackets_match() {
        let text = b"(a, \")\" /* ) */, ')', (b)) c";
        assert_eq!(closing(text, 1), Some(25));
    }

    /// Names in comments and strings are none.
    #[test]
    fn identifiers_are_outside_strings() {
        let names: Vec<_> = identifiers(b"a1 = \"b\" + 'c' /* d */ + 0xe; // f\ng->h")
            .iter()
            .map(|(_, name)| String::from_utf8_lossy(name).into_owned())
            .collect();
        assert_eq!(names, ["a1", "g", "h"]);
    }

    /// A quote between digits, or alone on its line, begins no text.
    #[test]
    fn quotes_that_begin_nothing_are_told() {
        let text = b"a = 1'000 + L'\\'' + 0x1'2'3;\n#error don't\nb = \"c\\\r\nd\"; e";
        let names: Vec<_> = identifiers(text).iter().map(|(_, name)| *name).collect();
        assert_eq!(names, [&b"a"[..], b"L", b"error", b"don", b"b", b"e"]);
        assert_eq!(closing(b"(1'000, ')')", 1), Some(11));
    }
}
