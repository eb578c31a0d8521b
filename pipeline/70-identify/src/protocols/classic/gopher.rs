//! Gopher. RFC 1436 §2: a request; §3.8: a menu's lines, in four fields.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "gopher",
    groups: &[Group::Web],
    ports: &[70],
    rules: &[
        Rule::check(
            "gopher-menu",
            On::Tcp,
            &[
                Lead::ANY.masked(0, 0xf0, 0x30),
                Lead::start(b"g"),
                Lead::start(b"h"),
                Lead::start(b"i"),
                Lead::start(b"I"),
                Lead::start(b"s"),
                Lead::start(b"T"),
            ],
            menu,
        ),
        Rule::check(
            "gopher-request",
            On::Tcp,
            &[
                Lead::at(1, b"/").masked(0, 0xf0, 0x30),
                Lead::start(b"+/"),
                Lead::start(b"g/"),
                Lead::start(b"h/"),
                Lead::start(b"I/"),
                Lead::start(b"s/"),
                Lead::start(b"URL:"),
                Lead::start(b"/").on_ports(&[70]),
            ],
            request,
        ),
    ],
};

/// The longest line that is waited for.
const LINE_MAX: usize = 256;

/// A kind and a title, a selector, a host, a port, and perhaps "+"; between tabs.
fn menu(look: &Look<'_>) -> Option<Answer> {
    let shown = look.bytes.get(..LINE_MAX).unwrap_or(look.bytes);
    let Some(end) = shown.iter().position(|byte| *byte < b' ' && *byte != b'\t') else {
        return if shown.len() < LINE_MAX {
            None
        } else {
            Some(Answer::No)
        };
    };
    let mut fields = shown.get(..end)?.split(|&byte| byte == b'\t').skip(2);
    let host = fields.next().unwrap_or_default();
    let port = fields.next().unwrap_or_default();
    let is_host = !host.is_empty() && host.iter().all(u8::is_ascii_graphic);
    let is_port = (1..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit);
    if !is_host || !is_port || fields.next().is_some_and(|plus| plus != b"+") {
        return Some(Answer::No);
    }
    look.has(end, b"\r\n").and_then(Answer::when)
}

/// A selector that begins with the type of its item, as most do, and nothing else is said before
/// the server speaks or the stream ends. On Gopher's port any path will do.
fn request(look: &Look<'_>) -> Option<Answer> {
    let shown = look.bytes.get(..LINE_MAX).unwrap_or(look.bytes);
    let is_text = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
    let Some(end) = shown.iter().position(|byte| !is_text(byte)) else {
        return (shown.len() >= LINE_MAX || look.ended).then_some(Answer::No);
    };
    let is_alone = look.bytes.len() <= end.saturating_add(2);
    if !is_alone || !look.to_server {
        return Some(Answer::No);
    }
    match look.has(end, b"\r\n") {
        Some(true) => look.ended.then_some(Answer::Yes),
        None if !look.ended => None,
        _ => Some(Answer::No),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, server, stream};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            server(b"1About us\t/about\ta.example\t70\r\n"),
            Some("gopher")
        );
    }

    /// A file may begin with anything, so the request has to tell.
    #[test]
    fn a_request_stands_alone() {
        for line in [
            "0/a b.txt\r\n",
            "7/find\tfish\r\n",
            "9/ä\r\n",
            "URL:http://a/\r\n",
        ] {
            assert_eq!(client(line.as_bytes()), Some("gopher"), "{line}");
            let turns = [(true, line.as_bytes()), (false, &b"some text"[..])];
            assert_eq!(stream(&turns, (50_000, 50_001)), Some("gopher"), "{line}");
        }
        for line in [
            "0/a\n",
            "0/a\r\n\r\n",
            "0/a\r\nmore",
            "0/a",
            "0/\x01\r\n",
            "z/a\r\n",
            "0a\r\n",
        ] {
            assert_ne!(client(line.as_bytes()), Some("gopher"), "{line:?}");
        }
        assert_ne!(server(b"0/a\r\n"), Some("gopher"));
        for (port, found) in [(70, Some("gopher")), (79, None)] {
            assert_eq!(stream(&[(true, b"/a.txt\r\n")], (50_000, port)), found);
        }
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            server(b"1About us\t/about\ta.example\tx\r\n"),
            Some("gopher")
        );
    }
}
