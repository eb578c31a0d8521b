//! Telegram's calls: a tag, then twelve bytes of ones and a type at a relay.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "telegram",
    groups: &[Group::Chat, Group::Media],
    ports: &[],
    rules: &[Rule::check(
        "telegram-relay",
        On::Udp,
        &[Lead::ANY.len_min(32)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(
        look.be64(16)? == u64::MAX && look.be32(24)? == u32::MAX && look.be32(28)? >> 24 >= 0xfe,
    )
}
