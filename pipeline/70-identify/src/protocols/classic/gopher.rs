//! Gopher. RFC 1436 §3.8: a menu's lines, in four fields.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "gopher",
    groups: &[Group::Web],
    ports: &[70],
    rules: &[Rule::check(
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
    )],
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

#[cfg(test)]
mod tests {
    use crate::testing::server;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            server(b"1About us\t/about\ta.example\t70\r\n"),
            Some("gopher")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            server(b"1About us\t/about\ta.example\tx\r\n"),
            Some("gopher")
        );
    }
}
