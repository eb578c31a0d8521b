//! The PROXY protocol, versions 1 and 2: who really connects, before anything else.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "proxy-protocol",
    groups: &[Group::Web, Group::Tunnel],
    ports: &[],
    rules: &[
        Rule::pattern(
            "proxy-1",
            On::Tcp,
            r"PROXY (TCP[46] [0-9a-fA-F.:]{2,39} |UNKNOWN)",
        ),
        Rule::check(
            "proxy-2",
            On::Tcp,
            &[Lead::start(b"\r\n\r\n\0\r\nQ")],
            check,
        ),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let is_signed = look.range(0, 12)? == b"\r\n\r\n\0\r\nQUIT\n";
    Answer::when(is_signed && look.u8(12)? >> 4 == 2)
}
