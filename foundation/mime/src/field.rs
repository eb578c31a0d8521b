//! Fields of a head.

use std::borrow::Cow;

/// A value whose lines were joined. RFC 5322 §2.2.3: unfolding takes away the line end alone, and
/// what continues a line begins with a blank.
///
/// ```
/// let value = flowpin_mime::unfolded(b"attachment;\r\n filename=a\r\n");
/// assert_eq!(*value, *b"attachment; filename=a");
/// ```
pub fn unfolded(value: &[u8]) -> Cow<'_, [u8]> {
    let value = value.trim_ascii();
    if !value.contains(&b'\n') {
        return Cow::Borrowed(value);
    }
    let lines = value.split(|&byte| byte == b'\n').map(without_return);
    Cow::Owned(lines.collect::<Vec<_>>().concat())
}

/// The value of the first field of this name, [unfolded]; a name is compared in letters of either
/// case.
///
/// ```
/// let head = b"Content-Type: text/plain;\r\n charset=utf-8\r\nX: y\r\n";
/// let value = flowpin_mime::field(head, b"content-type").unwrap();
/// assert_eq!(*value, *b"text/plain; charset=utf-8");
/// assert_eq!(flowpin_mime::field(head, b"charset"), None);
/// ```
pub fn field<'a>(head: &'a [u8], name: &[u8]) -> Option<Cow<'a, [u8]>> {
    let mut rest = head;
    while !rest.is_empty() {
        let len = field_len(rest);
        let (one, later) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        if let Some(value) = value_of(one, name) {
            return Some(unfolded(value));
        }
        rest = later;
    }
    None
}

/// The length of the first field, with the lines that continue it.
fn field_len(head: &[u8]) -> usize {
    let mut len = 0usize;
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        if len > 0 && !matches!(line.first(), Some(b' ' | b'\t')) {
            break;
        }
        len = len.saturating_add(line.len());
    }
    len
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
