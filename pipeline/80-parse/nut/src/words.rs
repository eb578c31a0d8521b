//! Splits a line into words (RFC 9271 §4.1): separated by spaces, quoted if they contain spaces.

/// Appends the next word of `line` to `text`, unquoted and unescaped; returns the rest of the line.
fn next<'a>(line: &'a [u8], text: &mut Vec<u8>) -> &'a [u8] {
    let start = line.iter().position(|&byte| byte != b' ');
    let line = start.and_then(|at| line.get(at..)).unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(b"\"") else {
        let end = memchr::memchr(b' ', line).unwrap_or(line.len());
        let (word, rest) = line.split_at(end);
        text.extend_from_slice(word);
        return rest;
    };
    while let Some((&byte, more)) = rest.split_first() {
        rest = more;
        match byte {
            b'"' => break,
            b'\\' => {
                if let Some((&escaped, more)) = rest.split_first() {
                    text.push(escaped);
                    rest = more;
                }
            }
            other => text.push(other),
        }
    }
    rest
}

/// The first words of a line; missing ones are empty.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// The words, separated by a space.
    text: Vec<u8>,
    /// Start and end of each word in `text`.
    places: [(usize, usize); Self::COUNT],
}

impl Words {
    /// No command or answer has more words that are reported.
    const COUNT: usize = 8;

    pub(crate) fn read(&mut self, mut line: &[u8]) {
        self.text.clear();
        for place in &mut self.places {
            if !self.text.is_empty() && !line.is_empty() {
                self.text.push(b' ');
            }
            let start = self.text.len();
            line = next(line, &mut self.text);
            *place = (start, self.text.len());
        }
    }

    /// The word with this number, from 0.
    pub(crate) fn get(&self, number: usize) -> &[u8] {
        let place = self.places.get(number).copied();
        let (start, end) = place.unwrap_or_default();
        self.text.get(start..end).unwrap_or_default()
    }

    /// All words from this number on.
    pub(crate) fn rest(&self, number: usize) -> &[u8] {
        let place = self.places.get(number).copied();
        let (start, _) = place.unwrap_or_default();
        self.text.get(start..).unwrap_or_default().trim_ascii_end()
    }
}

#[cfg(test)]
mod tests {
    use super::Words;

    /// RFC 9271 §4.1: inside quotes, a backslash escapes a quote or a backslash.
    #[test]
    fn quotes_join_and_backslashes_escape() {
        let mut words = Words::default();
        words.read(br#"VAR lab  ups.mfr "A \"B\" \\ C""#);
        assert_eq!(words.get(0), b"VAR");
        assert_eq!(words.get(1), b"lab");
        assert_eq!(words.get(2), b"ups.mfr");
        assert_eq!(words.get(3), br#"A "B" \ C"#);
        assert_eq!(words.get(4), b"");
        assert_eq!(words.rest(2), br#"ups.mfr A "B" \ C"#);
        words.read(br#"SET VAR a "open"#);
        assert_eq!((words.get(2), words.get(3)), (&b"a"[..], &b"open"[..]));
        words.read(b"");
        assert!((0..9).all(|place| words.get(place).is_empty() && words.rest(place).is_empty()));
    }
}
