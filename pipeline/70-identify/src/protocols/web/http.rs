//! HTTP/1. RFC 9112 §3: a request line; §4: a status line.

use super::lines::{Head, METHODS};
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "http",
    groups: &[Group::Web],
    ports: &[80, 8000, 8080, 8888, 3128],
    rules: &[
        Rule::check("http-request", On::Tcp, METHODS, request).ranked(110),
        Rule::check("http-0.9", On::Tcp, &[Lead::start(b"GET /")], old_request).ranked(111),
        Rule::check("http-without-version", On::Tcp, PATHS, without_version).ranked(111),
        Rule::check("http-status", On::Tcp, &[Lead::start(b"HTTP/1.")], status).ranked(110),
    ],
};

fn request(look: &Look<'_>) -> Option<Answer> {
    let head = Head::of(without_empty_line(look.bytes));
    match head.line() {
        Some(line) => Answer::when(Head::is_request(line)),
        None if !head.is_request_begun() => Some(Answer::No),
        // A target longer than what is looked at.
        None if look.ended => Answer::when(look.bytes.len() > 64 && head.is_target_begun()),
        None => None,
    }
}

/// RFC 1945 §4.1, HTTP/0.9: a method and a path, and nothing else is said before the other side
/// speaks or the stream ends. Stores of keys have commands on lines like it, on their ports.
fn old_request(look: &Look<'_>) -> Option<Answer> {
    let end = match memchr::memchr(b'\n', look.bytes) {
        Some(end) => end,
        None if look.ended => return Some(Answer::No),
        None => return None,
    };
    let line = look.bytes.get(..end)?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let path = line.get(4..)?;
    let is_alone = end.checked_add(1)? == look.bytes.len();
    let is_path = path.iter().all(|byte| (b'!'..=b'~').contains(byte));
    if !look.to_server || !is_alone || !is_path || look.on_port(&[6379, 11_211]) {
        return Some(Answer::No);
    }
    look.ended.then_some(Answer::Yes)
}

/// What a request on a path begins with.
const PATHS: &[Lead] = &[
    Lead::start(b"GET /"),
    Lead::start(b"POST /"),
    Lead::start(b"HEAD /"),
];

/// A method, a path and no version, but fields that requests have: some programs write it so, and
/// servers answer.
fn without_version(look: &Look<'_>) -> Option<Answer> {
    let head = Head::of(look.bytes);
    let Some(line) = head.line() else {
        return look.ended.then_some(Answer::No);
    };
    let mut words = line.split(|&byte| byte == b' ').skip(1);
    let path = words.next().unwrap_or_default();
    let is_path = path.iter().all(|byte| (b'!'..=b'~').contains(byte));
    if !look.to_server || !is_path || words.next().is_some() {
        return Some(Answer::No);
    }
    let mut lines = look.bytes.split_inclusive(|&byte| byte == b'\n').skip(1);
    for line in lines.by_ref().take(LINES_MAX) {
        let Some(line) = line.strip_suffix(b"\n") else {
            return look.ended.then_some(Answer::No);
        };
        let line = line.trim_ascii_end();
        let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
        if line.is_empty() || !line.iter().all(|&byte| byte >= b' ' || byte == b'\t') {
            return Some(Answer::No);
        }
        if name.len() < line.len() && FIELDS.iter().any(|one| name.eq_ignore_ascii_case(one)) {
            return Some(Answer::Yes);
        }
    }
    // More may come.
    (look.ended || lines.next().is_some()).then_some(Answer::No)
}

/// Fields of which a request has one.
const FIELDS: [&[u8]; 5] = [
    b"host",
    b"user-agent",
    b"accept",
    b"content-length",
    b"cookie",
];
/// Lines of the head that may stand before it.
const LINES_MAX: usize = 16;

/// RFC 9112 §2.2: a request's first line, behind an empty one perhaps.
fn without_empty_line(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\r\n").unwrap_or(bytes)
}

fn status(look: &Look<'_>) -> Option<Answer> {
    let [minor, space, a, b, c] = look.array(7)?;
    let is_code = matches!(a, b'1'..=b'5') && b.is_ascii_digit() && c.is_ascii_digit();
    Answer::when(matches!(minor, b'0' | b'1') && space == b' ' && is_code)
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, stream};

    /// A request without a version is one if it is all that the client says before the server does.
    #[test]
    fn requests_without_a_version_stand_alone() {
        let ports = (50_000, 80);
        let page: (bool, &[u8]) = (false, b"<html>hello</html>\n");
        for line in ["GET /\r\n", "GET /a/b?c=d\r\n", "GET /index.html\n"] {
            assert_eq!(
                stream(&[(true, line.as_bytes()), page], ports),
                Some("http")
            );
            assert_eq!(client(line.as_bytes()), Some("http"), "{line:?}");
        }
        for line in [
            "GET /",
            "GET key\r\n",
            "GET /a b\r\n",
            "GET /a\r\nGET /b\r\n",
            "GET /a\r\n\r\n",
            "get /a\r\n",
            "PUT /a\r\n",
        ] {
            assert_ne!(
                stream(&[(true, line.as_bytes()), page], ports),
                Some("http"),
                "{line:?}"
            );
        }
        let key: (bool, &[u8]) = (true, b"GET /a\r\n");
        let value: (bool, &[u8]) = (false, b"$1\r\nx\r\n");
        assert_eq!(stream(&[key, value], (50_000, 6379)), None);
    }

    /// Only the version is missing: a field says so. Without one, two lines are not a request.
    #[test]
    fn requests_with_fields_need_no_version() {
        for request in [
            "GET /gen.php?a=1\r\nHost: a.example\r\n\r\n",
            "GET /\nFakeHeader\nhost: a.example\n\n",
            "POST /a\r\nX: y\r\nContent-Length: 2\r\n\r\nab",
        ] {
            assert_eq!(client(request.as_bytes()), Some("http"), "{request:?}");
        }
        for request in [
            "GET /a b\r\nHost: a.example\r\n\r\n",
            "GET a\r\nHost: a.example\r\n\r\n",
            "GET /a\r\n\r\nHost: a.example\r\n",
            "GET /a\r\nhello\r\nthere\r\n",
            "PUT /a\r\nHost: a.example\r\n\r\n",
        ] {
            assert_ne!(client(request.as_bytes()), Some("http"), "{request:?}");
        }
    }

    /// A request line longer than what is looked at has a method and a target; text has not, nor
    /// where it stands behind an empty line or begins with a word that is a method.
    #[test]
    fn a_line_without_its_end_has_a_method_and_a_target() {
        let long = "x".repeat(8000);
        for begin in [
            "GET /",
            "\r\nGET /",
            "POST http://a.example/",
            "OPTIONS *",
            "CONNECT a.example:443",
            "\r\nMKREDIRECTREF /",
        ] {
            let line = format!("{begin}{long}");
            assert_eq!(client(line.as_bytes()), Some("http"), "{begin:?}");
        }
        for begin in [
            "\r\n",
            "\r\nhello there, ",
            "\r\nHELLO ",
            "\r\nHELLO",
            "\r\n/",
            "\r\n /",
            "COPY the file to ",
            "GET ",
        ] {
            let line = format!("{begin}{long}");
            assert_ne!(client(line.as_bytes()), Some("http"), "{begin:?}");
            let text =
                format!("{begin}some words that stand on a line which nobody has ended yet, words");
            assert_ne!(client(text.as_bytes()), Some("http"), "{begin:?}");
        }
    }

    /// RFC 9112 §2.2: one empty line may stand before the first request. UPnP Device Architecture
    /// §4: its events are requests, too.
    #[test]
    fn requests_are_known_behind_an_empty_line_and_by_rarer_methods() {
        for line in [
            "\r\nGET / HTTP/1.1\r\n",
            "\r\nHEAD /a?b HTTP/1.0\r\n",
            "NOTIFY /event HTTP/1.1\r\n",
            "SUBSCRIBE /service HTTP/1.1\r\n",
            "UNSUBSCRIBE /service HTTP/1.1\r\n",
            "QUERY /contacts HTTP/1.1\r\n",
            "MKCALENDAR /home/calendar/ HTTP/1.1\r\n",
            "VERSION-CONTROL /doc HTTP/1.1\r\n",
            "PURGE /cached HTTP/1.1\r\n",
            "M-SEARCH * HTTP/1.1\r\n",
        ] {
            assert_eq!(client(line.as_bytes()), Some("http"), "{line:?}");
        }
        for line in [
            "\r\n\r\n\r\n",
            "\r\nhello there\r\n",
            "NOTIFY sip:a SIP/2.0\r\n",
        ] {
            assert_ne!(client(line.as_bytes()), Some("http"), "{line:?}");
        }
    }
}
