//! `GET /index.html HTTP/1.1`.

use super::{Spelling, Version, is_token_byte, trimmed};
use memchr::{memchr2, memrchr2};

/// Methods that decide how a message is read, and those that need no storing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Method {
    /// Any other: its name is kept.
    #[default]
    Other,
    Get,
    Head,
    Post,
    Put,
    Delete,
    Connect,
    Options,
    Trace,
    Patch,
}

impl Method {
    /// Whether a name is that of a known method, in letters of any case.
    pub(crate) fn is_known(name: &[u8]) -> bool {
        KNOWN
            .iter()
            .filter_map(|method| method.name())
            .any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Its name, if it is not any other.
    pub(crate) const fn name(self) -> Option<&'static [u8]> {
        Some(match self {
            Self::Other => return None,
            Self::Get => b"GET",
            Self::Head => b"HEAD",
            Self::Post => b"POST",
            Self::Put => b"PUT",
            Self::Delete => b"DELETE",
            Self::Connect => b"CONNECT",
            Self::Options => b"OPTIONS",
            Self::Trace => b"TRACE",
            Self::Patch => b"PATCH",
        })
    }

    #[inline]
    fn read(name: &[u8]) -> Self {
        match name {
            b"GET" => Self::Get,
            b"POST" => Self::Post,
            b"HEAD" => Self::Head,
            b"PUT" => Self::Put,
            b"DELETE" => Self::Delete,
            b"CONNECT" => Self::Connect,
            b"OPTIONS" => Self::Options,
            b"TRACE" => Self::Trace,
            b"PATCH" => Self::Patch,
            _ => Self::Other,
        }
    }
}

const KNOWN: [Method; 9] = [
    Method::Get,
    Method::Head,
    Method::Post,
    Method::Put,
    Method::Delete,
    Method::Connect,
    Method::Options,
    Method::Trace,
    Method::Patch,
];

/// A request line's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestLine<'a> {
    pub(crate) method: Method,
    pub(crate) name: &'a [u8],
    pub(crate) uri: &'a [u8],
    pub(crate) version: Version,
    pub(crate) odd_version: bool,
    /// Other than one space between the parts, or any around them.
    pub(crate) odd_spaces: bool,
    pub(crate) space_in_uri: bool,
    pub(crate) odd_method: bool,
}

/// Reads a line without its end. None if it is not like a request at all.
#[inline]
pub(crate) fn request_line(line: &[u8]) -> Option<RequestLine<'_>> {
    let first = memchr2(b' ', b'\t', line)?;
    let last = memrchr2(b' ', b'\t', line)?;
    let name = line.get(..first)?;
    let uri = line.get(first.wrapping_add(1)..last);
    let version = Version::read(line.get(last.wrapping_add(1)..)?);
    match (uri, version) {
        // PERF: two searches recognise a regular line.
        (Some(uri), Some((version, Spelling::Usual)))
            if !uri.is_empty()
                && !name.is_empty()
                && memchr2(b' ', b'\t', uri).is_none()
                && line.get(first) == Some(&b' ')
                && line.get(last) == Some(&b' ') =>
        {
            let method = Method::read(name);
            let odd_method =
                method == Method::Other && !name.iter().all(|&byte| is_token_byte(byte));
            if method == Method::Other && !could_be_method(name) {
                return None;
            }
            Some(RequestLine {
                method,
                name,
                uri,
                version,
                odd_version: false,
                odd_spaces: false,
                space_in_uri: false,
                odd_method,
            })
        }
        _ => read_odd(line),
    }
}

#[cold]
fn read_odd(line: &[u8]) -> Option<RequestLine<'_>> {
    let text = trimmed(line);
    let is_space = |byte: u8| byte == b' ' || byte == b'\t';
    let first = text.iter().position(|&byte| is_space(byte))?;
    let (name, rest) = text.split_at_checked(first)?;
    if !could_be_method(name) {
        return None;
    }
    let spaces = rest.iter().take_while(|&&byte| is_space(byte)).count();
    let rest = rest.get(spaces..)?;
    let (target, version, odd_version) = target_and_version(rest);
    let uri = trimmed(target);
    let odd_spaces = text.len() != line.len()
        || spaces != 1
        || line.contains(&b'\t')
        || uri.len() != target.len();
    // An invalid method, before a regular target and version.
    let is_sure = matches!(version, Version::V10 | Version::V11);
    let is_word =
        name.iter().all(u8::is_ascii_graphic) && name.first().is_some_and(u8::is_ascii_alphabetic);
    if !is_word && !is_sure {
        return None;
    }
    Some(RequestLine {
        method: Method::read(name),
        name,
        uri,
        version,
        odd_version,
        odd_spaces,
        space_in_uri: memchr2(b' ', b'\t', uri).is_some(),
        odd_method: !name.iter().all(|&byte| is_token_byte(byte)),
    })
}

/// The parts after a method: the target up to the blank before the version, the version, and
/// whether that is irregular.
fn target_and_version(rest: &[u8]) -> (&[u8], Version, bool) {
    let is_space = |byte: u8| byte == b' ' || byte == b'\t';
    let split = |at: usize| {
        let (before, version) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        (
            before.split_last().map_or(before, |(_, target)| target),
            version,
        )
    };
    let last = memrchr2(b' ', b'\t', rest).map_or(0, |last| last.wrapping_add(1));
    let (target, word) = split(last);
    if let Some((version, spelling)) = Version::read(word) {
        return (target, version, spelling == Spelling::Odd);
    }
    // `HTTP / 1.1`, `HTTP/1.1 x`: the last word that begins like a version is meant as one.
    let begins_version = |at: &usize| {
        let before = at.checked_sub(1).and_then(|before| rest.get(before));
        let word = rest
            .get(*at..)
            .and_then(|word| word.split_first_chunk::<4>());
        before.is_none_or(|&before| is_space(before))
            && word.is_some_and(|(name, after)| {
                let ends = after
                    .first()
                    .is_none_or(|&byte| byte == b'/' || is_space(byte));
                ends && name.eq_ignore_ascii_case(b"HTTP")
            })
    };
    match (0..rest.len()).rev().find(begins_version) {
        Some(at) => {
            let (target, word) = split(at);
            let found = Version::read(word).map_or(Version::Odd, |(version, _)| version);
            (target, found, true)
        }
        None => (rest, Version::Old, false),
    }
}

/// No method is longer (WebDAV's longest has 16 letters).
pub(crate) const METHOD_MAX: usize = 32;

/// Whether these bytes may start a request line: a prefix of a method.
pub(crate) fn might_be_request(begin: &[u8]) -> bool {
    let end = memchr2(b' ', b'\t', begin).unwrap_or(begin.len());
    begin.get(..end).is_some_and(could_be_method)
}

/// Servers also respond to a request without a valid method (Python's then continues).
fn could_be_method(name: &[u8]) -> bool {
    !name.is_empty() && name.len() <= METHOD_MAX && name.iter().all(|&byte| could_begin(byte))
}

/// Whether a request may begin with a byte.
#[inline]
pub(crate) const fn could_begin(byte: u8) -> bool {
    byte > b' ' && byte != 0x7f
}

/// Whether these bytes may start a request: a method, or a prefix of it, then a space.
pub(crate) fn looks_like_request(begin: &[u8]) -> bool {
    let name = begin
        .iter()
        .position(|&byte| byte == b' ')
        .map_or(begin, |end| begin.get(..end).unwrap_or_default());
    !name.is_empty()
        && name.len() <= METHOD_MAX
        && name
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::{Method, request_line};
    use crate::syntax::Version;

    fn parts(line: &str) -> Option<(Method, String, String, Version)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let found = request_line(line.as_bytes())?;
        Some((
            found.method,
            text(found.name),
            text(found.uri),
            found.version,
        ))
    }

    /// RFC 9112 §3: method, target and version, one space between.
    #[test]
    fn a_request_line_has_three_parts() {
        let (method, _, uri, version) = parts("GET /a?b=c HTTP/1.1").unwrap();
        assert_eq!((method, version), (Method::Get, Version::V11));
        assert_eq!(uri, "/a?b=c");
        let (method, name, uri, _) = parts("PROPFIND * HTTP/1.0").unwrap();
        assert_eq!((method, name.as_str()), (Method::Other, "PROPFIND"));
        assert_eq!(uri, "*");
    }

    /// HTTP/0.9 had no version; with a space in the target, the last part decides.
    #[test]
    fn odd_lines_keep_their_target() {
        assert_eq!(parts("GET /").unwrap().3, Version::Old);
        let spaced = request_line(b"GET /a b  c HTTP/1.1").unwrap();
        assert_eq!(spaced.uri, b"/a b  c");
        assert!(spaced.space_in_uri && !spaced.odd_spaces);
        let tabs = request_line(b"GET\t/a\tHTTP/1.1").unwrap();
        assert_eq!(tabs.uri, b"/a");
        assert!(tabs.odd_spaces);
        assert_eq!(parts("GET /a HTTP/7.3").unwrap().3, Version::Other(7, 3));
        assert_eq!(parts("GET /a HTTP/1.10").unwrap().3, Version::Odd);
        assert_eq!(parts("GET HTTP/1.1").unwrap().2, "");
    }

    /// Other text must not become a request.
    #[test]
    fn other_bytes_are_no_request() {
        for line in [
            "",
            "GET",
            " ",
            "\x16\x03 x",
            "\x01T / HTTP/1.1",
            ": a b",
            "1 a",
        ] {
            assert_eq!(parts(line), None, "{line:?}");
        }
    }

    /// The target ends before the version, however that is spelled and whatever follows it.
    #[test]
    fn odd_versions_are_read() {
        for (line, uri, version) in [
            ("GET /a http/1.1", "/a", Version::V11),
            ("GET /a Http/1.0", "/a", Version::V10),
            ("GET /a HTTP/01.1", "/a", Version::V11),
            ("GET /a HTTP / 1.1", "/a", Version::V11),
            ("GET /a HTTP/ 1.1", "/a", Version::V11),
            ("GET /a  HTTP/1.1 \t ", "/a", Version::V11),
            ("GET /a HTTP/1.1 x", "/a", Version::Odd),
            ("GET /a HTTP 1.1", "/a", Version::Odd),
            ("GET /a HTTP/", "/a", Version::Odd),
            ("GET /a HTTP/1", "/a", Version::Odd),
            ("GET /a b HTTP/-1.1", "/a b", Version::Odd),
            ("GET /a HTTPS/1.1", "/a HTTPS/1.1", Version::Old),
            ("GET http://h/ x", "http://h/ x", Version::Old),
            ("\u{80}GET /a HTTP/1.1", "/a", Version::V11),
            ("123 /a HTTP/1.1", "/a", Version::V11),
        ] {
            let found = request_line(line.as_bytes()).unwrap();
            assert_eq!(
                (found.uri, found.version),
                (uri.as_bytes(), version),
                "{line:?}"
            );
            let is_plain = version == Version::Old || line.contains(" HTTP/1.1");
            assert!(found.odd_version || is_plain, "{line:?}");
        }
    }
}
