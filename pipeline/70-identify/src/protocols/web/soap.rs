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
    if !head.is_whole() && !look.ended {
        return None;
    }
    let is_soap = head.fields().any(|(name, value)| {
        name.eq_ignore_ascii_case(b"soapaction")
            || name.eq_ignore_ascii_case(b"content-type")
                && contains(value, b"application/soap+xml")
    });
    let body = head.body();
    let is_soap = is_soap || contains(body.get(..256).unwrap_or(body), b":envelope ");
    Answer::when(is_soap)
}
