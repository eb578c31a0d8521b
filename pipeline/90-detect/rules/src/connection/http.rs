//! The buffers of HTTP: what rules examine, made of the fields that the parser keeps.

use crate::evaluate::transform::url_decode;
use flowpin_rule::HttpPart;

/// A request and its response, or what was seen of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Texts<'a> {
    pub(crate) method: &'a [u8],
    pub(crate) uri: &'a [u8],
    pub(crate) host: &'a [u8],
    /// With its name: `HTTP/1.1`.
    pub(crate) protocol: &'a [u8],
    pub(crate) status: &'a [u8],
    pub(crate) reason: &'a [u8],
}

/// Name and value of a field: the value with the blanks around it.
pub(crate) type Field<'a> = (&'a [u8], &'a [u8]);

/// Appends a buffer to `out`; false if there is none.
pub(crate) fn part(
    part: HttpPart,
    texts: &Texts<'_>,
    fields: &[Field<'_>],
    to_server: bool,
    out: &mut Vec<u8>,
) -> bool {
    let line: &[&[u8]] = match to_server {
        true => &[texts.method, b" ", texts.uri, b" ", texts.protocol],
        false => &[texts.protocol, b" ", texts.status, b" ", texts.reason],
    };
    let has_line = !if to_server {
        texts.method
    } else {
        texts.status
    }
    .is_empty();
    let before = out.len();
    match part {
        HttpPart::Uri => normalize(texts.uri, out),
        HttpPart::RawUri => out.extend_from_slice(texts.uri),
        HttpPart::Protocol if has_line => out.extend_from_slice(texts.protocol),
        HttpPart::RequestLine | HttpPart::ResponseLine if has_line => put_all(line, out),
        HttpPart::Protocol | HttpPart::RequestLine | HttpPart::ResponseLine => {}
        HttpPart::Header => {
            let is_cookie = |name: &[u8]| {
                name.eq_ignore_ascii_case(b"cookie") || name.eq_ignore_ascii_case(b"set-cookie")
            };
            let shown = fields.iter().filter(|field| !is_cookie(field.0));
            shown.for_each(|field| lines(field, out));
        }
        HttpPart::RawHeader => {
            for (name, value) in fields {
                out.extend_from_slice(name);
                let has_blank = value
                    .first()
                    .is_none_or(|byte| *byte == b' ' || *byte == b'\t');
                out.extend_from_slice(if has_blank { b":" } else { b": " });
                out.extend_from_slice(value);
                out.extend_from_slice(b"\r\n");
            }
            if !fields.is_empty() {
                out.extend_from_slice(b"\r\n");
            }
        }
        HttpPart::HeaderNames if fields.is_empty() => {}
        HttpPart::HeaderNames => {
            out.extend_from_slice(b"\r\n");
            for (name, _) in fields {
                out.extend_from_slice(name);
                out.extend_from_slice(b"\r\n");
            }
            out.extend_from_slice(b"\r\n");
        }
        HttpPart::Start if has_line => {
            put_all(line, out);
            out.extend_from_slice(b"\r\n");
            fields.iter().for_each(|field| lines(field, out));
            out.extend_from_slice(b"\r\n");
        }
        HttpPart::Start => {}
        HttpPart::Host => out.extend(texts.host.iter().map(u8::to_ascii_lowercase)),
        HttpPart::Url => url(texts, fields, out),
        HttpPart::RawHost => {
            if !join(b"host", fields, out) {
                out.extend_from_slice(texts.host);
            }
        }
        HttpPart::Field(":method") => out.extend_from_slice(texts.method),
        HttpPart::Field(":status") => out.extend_from_slice(texts.status),
        HttpPart::Field(":reason") => out.extend_from_slice(texts.reason),
        HttpPart::Field("cookie") if !to_server => return join(b"set-cookie", fields, out),
        HttpPart::Field(name) => return join(name.as_bytes(), fields, out),
        // Kept elsewhere, or with a buffer for each.
        HttpPart::EachField | HttpPart::RequestBody | HttpPart::ResponseBody => return false,
    }
    out.len() > before
}

/// Host and target without a scheme; the target may have the host itself (RFC 9112 §3.2.2).
fn url(texts: &Texts<'_>, fields: &[Field<'_>], out: &mut Vec<u8>) {
    let scheme = texts.uri.windows(3).position(|part| part == b"://");
    if let Some(behind) = scheme.and_then(|at| texts.uri.get(at + 3..))
        && !texts.uri.starts_with(b"/")
    {
        let slash = behind.iter().position(|&byte| byte == b'/');
        let (host, target) = behind.split_at(slash.unwrap_or(behind.len()));
        out.extend(host.iter().map(u8::to_ascii_lowercase));
        out.extend_from_slice(target);
        return;
    }
    let begin = out.len();
    if !join(b"host", fields, out) {
        out.extend_from_slice(texts.host);
    }
    if let Some(host) = out.get_mut(begin..) {
        host.make_ascii_lowercase();
    }
    out.extend_from_slice(texts.uri);
}

fn put_all(parts: &[&[u8]], out: &mut Vec<u8>) {
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

/// A field as a line.
fn lines((name, value): &Field<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.trim_ascii());
    out.extend_from_slice(b"\r\n");
}

/// The values of all fields of a name, as one list (RFC 9110 §5.3).
fn join(name: &[u8], fields: &[Field<'_>], out: &mut Vec<u8>) -> bool {
    let mut is_there = false;
    for (_, value) in fields
        .iter()
        .filter(|field| field.0.eq_ignore_ascii_case(name))
    {
        if is_there {
            out.extend_from_slice(b", ");
        }
        out.extend_from_slice(value.trim_ascii());
        is_there = true;
    }
    is_there
}

/// The path of a target, decoded as servers decode it, and its query, decoded.
fn normalize(uri: &[u8], out: &mut Vec<u8>) {
    let target = after_authority(uri);
    let end = target
        .iter()
        .position(|&byte| byte == b'?')
        .unwrap_or(target.len());
    let (path, query) = target.split_at(end);
    // PERF: as most are: it says itself, and so does its query.
    let is_plain = |byte: &u8| !matches!(byte, b'%' | b'+' | b'\\');
    let is_normal = |two: &[u8]| two != b"//" && two != b"/.";
    if target.iter().all(is_plain) && path.windows(2).all(is_normal) {
        out.extend_from_slice(target);
        return;
    }
    let mut decoded = Vec::with_capacity(path.len());
    url_decode(path, false, &mut decoded);
    let begin = out.len();
    let mut was_slash = false;
    for byte in decoded {
        let byte = if byte == b'\\' { b'/' } else { byte };
        if byte != b'/' || !was_slash {
            out.push(byte);
        }
        was_slash = byte == b'/';
    }
    remove_dots(begin, out);
    url_decode(query, false, out);
}

/// What follows the host of an absolute target.
fn after_authority(uri: &[u8]) -> &[u8] {
    let Some(at) = uri.windows(3).take(16).position(|three| three == b"://") else {
        return uri;
    };
    let rest = uri.get(at + 3..).unwrap_or_default();
    let slash = rest.iter().position(|&byte| byte == b'/' || byte == b'?');
    slash.and_then(|slash| rest.get(slash..)).unwrap_or(b"/")
}

/// Takes `.` and `..` out of a path (RFC 3986 §5.2.4).
fn remove_dots(begin: usize, out: &mut Vec<u8>) {
    let Some(path) = out
        .get(begin..)
        .filter(|path| path.windows(2).any(|two| two == b"/."))
    else {
        return;
    };
    let path = path.to_vec();
    out.truncate(begin);
    let mut segments = path.split(|&byte| byte == b'/').peekable();
    let mut kept: Vec<&[u8]> = Vec::new();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            b"." | b".." => {
                if segment == b".." && kept.len() > 1 {
                    kept.pop();
                }
                if is_last {
                    kept.push(b"");
                }
            }
            segment => kept.push(segment),
        }
    }
    for (nth, segment) in kept.iter().enumerate() {
        if nth > 0 {
            out.push(b'/');
        }
        out.extend_from_slice(segment);
    }
}

#[cfg(test)]
mod tests {
    use super::{Texts, part};
    use flowpin_rule::HttpPart;

    fn uri(text: &str) -> String {
        let texts = Texts {
            uri: text.as_bytes(),
            ..Texts::default()
        };
        let mut out = Vec::new();
        part(HttpPart::Uri, &texts, &[], true, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// Paths as servers read them; queries decoded.
    #[test]
    fn targets_are_normalized() {
        assert_eq!(uri("/a%2e%2E/b//c?x=%41"), "/a../b/c?x=A");
        assert_eq!(uri("/a/./b/../c"), "/a/c");
        assert_eq!(uri("/../../x"), "/x");
        assert_eq!(uri("http://host:80/p\\q"), "/p/q");
        assert_eq!(uri("http://host"), "/");
        assert_eq!(uri("*"), "*");
    }

    /// Fields in their buffers.
    #[test]
    fn fields_are_lines_and_lists() {
        let texts = Texts {
            method: b"GET",
            uri: b"/",
            protocol: b"HTTP/1.1",
            ..Texts::default()
        };
        let fields: [(&[u8], &[u8]); 3] = [(b"A", b"1"), (b"Cookie", b"c"), (b"a", b"2")];
        let show = |which| {
            let mut out = Vec::new();
            part(which, &texts, &fields, true, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(show(HttpPart::Header), "A: 1\r\na: 2\r\n");
        assert_eq!(show(HttpPart::Field("a")), "1, 2");
        assert_eq!(show(HttpPart::HeaderNames), "\r\nA\r\nCookie\r\na\r\n\r\n");
        let start = "GET / HTTP/1.1\r\nA: 1\r\nCookie: c\r\na: 2\r\n\r\n";
        assert_eq!(show(HttpPart::Start), start);
    }
}
