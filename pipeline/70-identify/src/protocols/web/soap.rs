//! SOAP over HTTP. SOAP 1.1 §6.1.1: the SOAPAction field; SOAP 1.2 part 2 §7: its media type.

use super::lines::{Head, contains};
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};
use memchr::{memchr, memmem};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "soap",
    groups: &[Group::Web, Group::Messaging],
    ports: &[],
    rules: &[
        Rule::pattern(
            "soap-envelope",
            On::Tcp,
            r"<\?xml [^>]*>\s*<[A-Za-z0-9\-]+:Envelope[ >]",
        ),
        Rule::check(
            "soap-request",
            On::Tcp,
            &[
                Lead::start(b"POST "),
                Lead::start(b"HTTP/1.1"),
                Lead::start(b"M-POST "),
            ],
            check,
        )
        .ranked(40),
    ],
};

/// Answers when the head is whole, as that of WebSocket.
fn check(look: &Look<'_>) -> Option<Answer> {
    let head = Head::of(look.bytes);
    let body = head.body();
    if body.is_none() && !look.ended {
        return None;
    }
    let (mut is_soap, mut is_xml) = (false, false);
    for (name, value) in head.fields() {
        match name.len() {
            10 => is_soap |= name.eq_ignore_ascii_case(b"soapaction"),
            12 if name.eq_ignore_ascii_case(b"content-type") => {
                is_soap |= contains(value, b"application/soap+xml");
                is_xml |= contains(value, b"/xml");
            }
            _ => {}
        }
    }
    if is_soap {
        return Some(Answer::Yes);
    }
    if !is_xml {
        return Some(Answer::No);
    }
    // SOAP 1.1 §3: an answer's media type is text/xml; its body has to say the rest.
    match root(body.unwrap_or_default()) {
        Some(root) => Answer::when(is_envelope(root)),
        None => look.ended.then_some(Answer::No),
    }
}

/// The tag of the outermost element of a document, as far as it is there; none as long as it has
/// not ended. What may stand before it: a chunk's size, a byte order mark, white space,
/// declarations, comments (XML 1.0 §2.8).
fn root(body: &[u8]) -> Option<&[u8]> {
    let digits = body.iter().take_while(|byte| byte.is_ascii_hexdigit());
    let chunk = match digits.count() {
        0 => None,
        digits => body.get(digits..),
    };
    let mut rest = match chunk {
        // RFC 9112 §7.1: a chunk's line ends behind its extensions.
        Some(line) => line.get(memchr(b'\n', line)?.saturating_add(1)..)?,
        None => body,
    };
    if ORDER_MARK.starts_with(rest) {
        return None;
    }
    rest = rest.strip_prefix(ORDER_MARK).unwrap_or(rest);
    loop {
        rest = rest.trim_ascii_start();
        let end = match rest {
            [] | [b'<'] | [b'<', b'!'] | [b'<', b'!', b'-'] => return None,
            [b'<', b'?', ..] => memmem::find(rest, b"?>")?,
            [b'<', b'!', b'-', b'-', behind @ ..] => {
                memmem::find(behind, b"-->")?.saturating_add(4)
            }
            [b'<', b'!', ..] => memchr(b'>', rest)?,
            [b'<', ..] => return rest.get(..memchr(b'>', rest)?),
            _ => return Some(&[]),
        };
        rest = rest.get(end..)?;
        rest = rest.get(memchr(b'>', rest)?.saturating_add(1)..)?;
    }
}

/// RFC 3629 §6.
const ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The name says it if it has a prefix; else a namespace has to.
fn is_envelope(tag: &[u8]) -> bool {
    let mut name = tag.get(1..).unwrap_or_default();
    let end = name.iter().position(|byte| byte.is_ascii_whitespace());
    name = name.get(..end.unwrap_or(name.len())).unwrap_or_default();
    let (is_prefixed, local) = match memchr(b':', name).and_then(|at| name.split_at_checked(at)) {
        Some((_, local)) => (true, local.get(1..).unwrap_or_default()),
        None => (false, name),
    };
    // SOAP 1.1 §4, SOAP 1.2 part 1 §5.
    let is_soap = ["schemas.xmlsoap.org/soap/", "www.w3.org/2003/05/soap-"]
        .iter()
        .any(|space| contains(tag, space.as_bytes()));
    local.eq_ignore_ascii_case(b"envelope") && (is_prefixed || is_soap)
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, server, stream};

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n";
    const BODY: &[u8] = b"<?xml version=\"1.0\"?><s:Envelope xmlns:s=\"x\"><s:Body/></s:Envelope>";

    /// The body tells, wherever segments cut it.
    #[test]
    fn an_envelope_tells_in_whatever_segment_it_comes() {
        let whole = [ANSWER, BODY].concat();
        assert_eq!(server(&whole), Some("soap"));
        for at in [ANSWER.len() - 1, ANSWER.len(), ANSWER.len() + 30] {
            let (one, other) = whole.split_at(at);
            let turns: &[(bool, &[u8])] = &[(false, one), (false, other)];
            assert_eq!(stream(turns, (50_000, 50_001)), Some("soap"), "{at}");
        }
    }

    /// However much stands before it: chunks, declarations, comments; with a prefix or a namespace.
    #[test]
    fn an_envelope_tells_behind_whatever_may_stand_before_it() {
        let comment = format!("<!-- {} > -->\r\n", "long ".repeat(300));
        let spaced = "<Envelope\n xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Body/>";
        for (before, envelope) in [
            ("<?xml version='1.0'?>\n", "<s:Envelope xmlns:s='x'>"),
            (
                "1a4;a=b\r\n<?xml version='1.0'?><!DOCTYPE x>",
                "<s:Envelope>",
            ),
            (comment.as_str(), "<soap-env:envelope\txmlns:soap-env='x'>"),
            ("\u{feff}", spaced),
        ] {
            let whole = [ANSWER, before.as_bytes(), envelope.as_bytes()].concat();
            assert_eq!(server(&whole), Some("soap"), "{before}{envelope}");
            for at in [
                ANSWER.len() + 2,
                ANSWER.len() + before.len(),
                whole.len() - 2,
            ] {
                let (one, other) = whole.split_at(at);
                let turns: &[(bool, &[u8])] = &[(false, one), (false, other)];
                assert_eq!(stream(turns, (50_000, 50_001)), Some("soap"), "{at}");
            }
        }
        for other in [
            "<Envelope xmlns='x'>",
            "<s:Envelopes>",
            "text",
            "<!-- <s:Envelope> -->",
        ] {
            assert_eq!(
                server(&[ANSWER, other.as_bytes()].concat()),
                Some("http"),
                "{other}"
            );
        }
    }

    #[test]
    fn a_near_miss_does_not_tell() {
        let other = b"<?xml version=\"1.0\"?><s:Document xmlns:s=\"x\"/>";
        assert_eq!(server(&[ANSWER, other].concat()), Some("http"));
        assert_eq!(
            client(b"POST /s HTTP/1.1\r\nSOAPLaction: x\r\n\r\n"),
            Some("http")
        );
    }
}
