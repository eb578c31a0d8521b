//! SOAP over HTTP. SOAP 1.1 §6.1.1: the SOAPAction field; SOAP 1.2 part 2 §7: its media type.

use super::lines::{Head, contains};
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

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
    let body = body.unwrap_or_default();
    // SOAP 1.1 §3: an answer's media type is text/xml; its body has to say the rest.
    let begun = body.get(..BODY_LEN);
    if is_xml && contains(begun.unwrap_or(body), b":envelope ") {
        return Some(Answer::Yes);
    }
    (!is_xml || begun.is_some() || look.ended).then_some(Answer::No)
}

/// So much of a body is looked at.
const BODY_LEN: usize = 256;

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
