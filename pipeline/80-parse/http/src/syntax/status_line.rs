//! `HTTP/1.1 200 OK`.

use super::{Spelling, Version, trimmed};

/// A status line's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatusLine<'a> {
    pub(crate) version: Version,
    pub(crate) odd_version: bool,
    /// 0 if it is no number.
    pub(crate) status: u16,
    pub(crate) reason: &'a [u8],
    pub(crate) odd_spaces: bool,
    pub(crate) odd_status: bool,
}

/// Reads a line without its end. None if it does not begin with a version.
#[inline]
pub(crate) fn status_line(line: &[u8]) -> Option<StatusLine<'_>> {
    // PERF: the first 13 bytes identify a regular line.
    if let Some((begin, reason)) = line.split_first_chunk::<13>()
        && let [
            b'H',
            b'T',
            b'T',
            b'P',
            b'/',
            b'1',
            b'.',
            minor @ (b'0' | b'1'),
            b' ',
            digits @ ..,
            b' ',
        ] = begin
        && let Some(status) = three_digits(digits)
        && status >= 100
        && reason.first() != Some(&b' ')
    {
        return Some(StatusLine {
            version: if *minor == b'1' {
                Version::V11
            } else {
                Version::V10
            },
            odd_version: false,
            status,
            reason: trimmed(reason),
            odd_spaces: false,
            odd_status: false,
        });
    }
    read_odd(line)
}

#[cold]
fn read_odd(line: &[u8]) -> Option<StatusLine<'_>> {
    let text = trimmed(line);
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let word = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        let end = rest.iter().position(is_space).unwrap_or(rest.len());
        from.wrapping_add(end)
    };
    let (name, rest) = text.split_at_checked(word(0))?;
    // Icecast servers respond with `ICY 200 OK`.
    let (version, spelling, rest) = if name == b"ICY" {
        (Version::Other(1, 0), Spelling::Odd, rest)
    } else if name.eq_ignore_ascii_case(b"HTTP") {
        // `HTTP 1.1 200`, `HTTP / 1.1 200`: no receiver accepts these, but they are responses.
        let is_between = |byte: &u8| is_space(byte) || *byte == b'/';
        let between = rest.iter().take_while(|&byte| is_between(byte)).count();
        let (name, rest) = text.split_at_checked(word(name.len().wrapping_add(between)))?;
        let (version, _) = Version::read(name).unwrap_or((Version::Odd, Spelling::Odd));
        (version, Spelling::Odd, rest)
    } else {
        let (version, spelling) = Version::read(name)?;
        (version, spelling, rest)
    };
    let after = trimmed(rest);
    let end = after.iter().position(is_space).unwrap_or(after.len());
    let (digits, reason) = after.split_at_checked(end)?;
    // `200ok` is read as 200.
    let status = digits
        .first_chunk::<3>()
        .and_then(three_digits)
        .filter(|_| !digits.get(3).is_some_and(u8::is_ascii_digit));
    let odd_status = digits.len() != 3 || status.is_none_or(|status| status < 100);
    let spaces = rest.iter().take_while(|byte| is_space(byte)).count();
    // RFC 9112 §4: the space before an empty reason may not be left out, but often is.
    Some(StatusLine {
        version,
        odd_version: spelling == Spelling::Odd,
        status: status.unwrap_or(0),
        reason: trimmed(reason),
        odd_spaces: spaces > 1 || line.first().is_some_and(is_space) || line.contains(&b'\t'),
        odd_status,
    })
}

#[inline]
fn three_digits(digits: &[u8; 3]) -> Option<u16> {
    digits.iter().try_fold(0u16, |sum, &digit| {
        digit.is_ascii_digit().then(|| {
            sum.wrapping_mul(10)
                .wrapping_add(u16::from(digit.wrapping_sub(b'0')))
        })
    })
}

/// Whether these bytes may start a response.
pub(crate) fn looks_like_response(begin: &[u8]) -> bool {
    [b"HTTP/".as_slice(), b"ICY "].iter().any(|name| {
        let len = begin.len().min(name.len());
        len > 0 && begin.get(..len) == name.get(..len)
    })
}

#[cfg(test)]
mod tests {
    use super::{looks_like_response, status_line};
    use crate::syntax::Version;

    /// RFC 9112 §4: version, three digits, a reason that may be empty.
    #[test]
    fn a_status_line_has_three_parts() {
        let found = status_line(b"HTTP/1.1 404 Not Found").unwrap();
        assert_eq!((found.version, found.status), (Version::V11, 404));
        assert_eq!(found.reason, b"Not Found");
        for line in [b"HTTP/1.0 200 ".as_slice(), b"HTTP/1.0 200"] {
            let found = status_line(line).unwrap();
            assert_eq!((found.version, found.status), (Version::V10, 200));
            assert!(found.reason.is_empty() && !found.odd_status);
        }
    }

    /// Irregular lines are read and reported.
    #[test]
    fn odd_lines_are_read() {
        assert_eq!(status_line(b"ICY 200 OK").unwrap().status, 200);
        assert!(status_line(b"HTTP/1.1  200 OK").unwrap().odd_spaces);
        for line in [
            b"HTTP/1.1 20 OK".as_slice(),
            b"HTTP/1.1 2000 OK",
            b"HTTP/1.1",
            b"HTTP/1.1 099 x",
        ] {
            assert!(status_line(line).unwrap().odd_status);
        }
        assert_eq!(status_line(b"HTTP/1.1 200ok").unwrap().status, 200);
        assert_eq!(status_line(b"<html>"), None);
        for line in ["http/1.1 201 OK", "HTTP / 01.1 201", "HTTP/1.1\t201 OK"] {
            let found = status_line(line.as_bytes()).unwrap();
            assert_eq!((found.version, found.status), (Version::V11, 201), "{line}");
            assert!(found.odd_version || found.odd_spaces, "{line}");
        }
        let found = status_line(b"HTTP 1.1 201 OK").unwrap();
        assert_eq!((found.version, found.status), (Version::Odd, 201));
        assert!(looks_like_response(b"HT") && looks_like_response(b"HTTP/1"));
        assert!(!looks_like_response(b"HTML") && !looks_like_response(b""));
    }
}
