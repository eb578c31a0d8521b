//! Whois. RFC 3912: one line there, text back. Its port is half of the evidence.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "whois",
    groups: &[Group::Naming],
    ports: &[43],
    rules: &[
        Rule::check("whois-query", On::Tcp, &[Lead::ANY.on_ports(&[43])], query).ranked(200),
        Rule::pattern(
            "whois-answer",
            On::Tcp,
            concat!(
                r"(% (This is the|IANA WHOIS|\[whois)|% ?(RIPE|APNIC|AFRINIC|LACNIC)",
                r"|#\r?\n# ARIN WHOIS|\s{0,4}Domain Name: [!-~]+\r?\n)",
            ),
        ),
    ],
};

fn query(look: &Look<'_>) -> Option<Answer> {
    if !look.to_server || look.ports.1 != 43 {
        return Some(Answer::No);
    }
    let end = look
        .bytes
        .iter()
        .position(|byte| !(b' '..=b'~').contains(byte));
    match end {
        Some(end) if end >= 2 => match look.has(end, b"\r\n")? {
            true => Answer::when(look.is_long(end.saturating_add(2))?),
            false => Some(Answer::No),
        },
        Some(_) => Some(Answer::No),
        None if look.bytes.len() > 128 => Some(Answer::No),
        None => None,
    }
}
