//! Bitcoin and its relatives: a network's magic number, a command, a length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "bitcoin",
    groups: &[Group::Ledger, Group::Peers],
    ports: &[8333],
    rules: &[Rule::check(
        "bitcoin-message",
        On::Tcp,
        &[
            Lead::start(&[0xf9, 0xbe, 0xb4, 0xd9]),
            Lead::start(&[0x0b, 0x11, 0x09, 0x07]),
            Lead::start(&[0xfa, 0xbf, 0xb5, 0xda]),
            Lead::start(&[0x0a, 0x03, 0xcf, 0x40]),
            Lead::start(&[0xfb, 0xc0, 0xb6, 0xdb]),
            Lead::start(&[0xc0, 0xc0, 0xc0, 0xc0]),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let command = look.range(4, 12)?;
    let end = command.iter().position(|&byte| byte == 0).unwrap_or(12);
    let (name, rest) = command.split_at_checked(end)?;
    let is_name = !name.is_empty()
        && name
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    Answer::when(is_name && rest.iter().all(|&byte| byte == 0) && look.le32(16)? < 32 << 20)
}
