//! Discord's voice: the datagram that asks for one's own address.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "discord",
    groups: &[Group::Chat, Group::Media],
    ports: &[],
    rules: &[
        Rule::check(
            "discord-discovery",
            On::Udp,
            &[
                Lead::start(&[0, 1, 0, 0x46]).len_min(74),
                Lead::start(&[0, 2, 0, 0x46]).len_min(74),
            ],
            check,
        ),
        Rule::check(
            "discord-ping",
            On::Udp,
            &[Lead::start(&[0x13, 0x37, 0xca, 0xfe]).len_min(8)],
            ping,
        ),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.len == 74)
}

fn ping(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.len == 8)
}
