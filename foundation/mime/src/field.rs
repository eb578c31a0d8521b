//! Fields of a head.

use std::borrow::Cow;

/// The value of the first field of this name; a name is compared in letters of either case.
///
/// RFC 5322 §2.2.3: a line that begins with a blank continues the one before it, and unfolding takes
/// away the line end alone.
///
/// ```
/// let head = b"Content-Type: text/plain;\r\n charset=utf-8\r\nX: y\r\n";
/// let value = flowpin_mime::field(head, b"content-type").unwrap();
/// assert_eq!(*value, *b"text/plain; charset=utf-8");
/// assert_eq!(flowpin_mime::field(head, b"charset"), None);
/// ```
pub fn field<'a>(head: &'a [u8], name: &[u8]) -> Option<Cow<'a, [u8]>> {
    let mut lines = head.split(|&byte| byte == b'\n').map(without_return);
    let first = lines.find_map(|line| value_of(line, name))?;
    let mut value = Cow::Borrowed(first);
    for line in lines.take_while(|line| matches!(line.first(), Some(b' ' | b'\t'))) {
        value.to_mut().extend_from_slice(line);
    }
    Some(match value {
        Cow::Borrowed(value) => Cow::Borrowed(value.trim_ascii()),
        Cow::Owned(value) => Cow::Owned(value.trim_ascii().to_vec()),
    })
}

fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (own, after) = line.split_at_checked(name.len())?;
    // RFC 5322 §4.5: blanks before the colon are obsolete, and still read.
    let value = after.trim_ascii_start().strip_prefix(b":")?;
    own.eq_ignore_ascii_case(name).then_some(value)
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::field;

    /// RFC 5322 §2.2: the first of a name counts, and only a whole name is one.
    #[test]
    fn fields_are_found_by_their_whole_name() {
        let head = b"X-A: 1\r\nA-X: 2\r\na-x : 3\nFolded:\r\n\tb\r\n c\r\nLast: d";
        let value = |name: &[u8]| field(head, name).map(|value| value.into_owned());
        assert_eq!(value(b"a-x"), Some(b"2".to_vec()));
        assert_eq!(value(b"x"), None);
        assert_eq!(value(b"folded"), Some(b"b c".to_vec()));
        assert_eq!(value(b"LAST"), Some(b"d".to_vec()));
        assert_eq!(
            field(b"a-x \t: 3", b"A-X").as_deref(),
            Some(b"3".as_slice())
        );
        assert_eq!(field(b"", b"a"), None);
    }
}
