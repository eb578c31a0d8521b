//! A line's words (RFC 9271 §4.1): spaces between them, quotes around those that have spaces.

/// Appends the next word of `line` to `text`, without quotes around it and with its escapes undone;
/// what follows it.
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
    /// One behind the other.
    text: Vec<u8>,
    ends: [usize; Self::COUNT],
}

impl Words {
    /// No command and no answer has more.
    const COUNT: usize = 5;

    pub(crate) fn read(&mut self, mut line: &[u8]) {
        self.text.clear();
        for end in &mut self.ends {
            line = next(line, &mut self.text);
            *end = self.text.len();
        }
    }

    /// A word, from 0.
    pub(crate) fn get(&self, place: usize) -> &[u8] {
        let before = place.checked_sub(1).and_then(|last| self.ends.get(last));
        let start = before.copied().unwrap_or(0);
        let end = self.ends.get(place).copied().unwrap_or(start);
        self.text.get(start..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Words;

    /// RFC 9271 §4.1: a quote inside quotes, and a backslash, have a backslash before them.
    #[test]
    fn quotes_join_and_backslashes_escape() {
        let mut words = Words::default();
        words.read(br#"VAR lab  ups.mfr "A \"B\" \\ C""#);
        assert_eq!(words.get(0), b"VAR");
        assert_eq!(words.get(1), b"lab");
        assert_eq!(words.get(2), b"ups.mfr");
        assert_eq!(words.get(3), br#"A "B" \ C"#);
        assert_eq!(words.get(4), b"");
        words.read(br#"SET VAR a "open"#);
        assert_eq!((words.get(2), words.get(3)), (&b"a"[..], &b"open"[..]));
        words.read(b"");
        assert!((0..6).all(|place| words.get(place).is_empty()));
    }
}
