//! TP-Link's smart home devices: JSON, each byte combined with the one before.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "tplink",
    groups: &[Group::Things],
    ports: &[9999],
    rules: &[
        Rule::check(
            "tplink-udp",
            On::Udp,
            &[Lead::start(&[0xd0, 0xf2]).len_min(4)],
            datagram,
        ),
        Rule::check(
            "tplink-tcp",
            On::Tcp,
            &[Lead::start(&[0, 0]).and(4, &[0xd0, 0xf2])],
            stream,
        ),
    ],
};

fn datagram(look: &Look<'_>) -> Option<Answer> {
    Answer::when(is_json(look.bytes))
}

/// A length comes first.
fn stream(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.be32(0)? < 1 << 16 && is_json(look.range(4, 16)?))
}

fn is_json(bytes: &[u8]) -> bool {
    bytes.len() >= 4
        && bytes
            .windows(2)
            .take(64)
            .all(|pair| matches!(pair, [before, byte] if (b' '..=b'~').contains(&(before ^ byte))))
}
