//! SMPP. §3.2: length, command, status, sequence.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "smpp",
    groups: &[Group::Messaging],
    ports: &[2775],
    rules: &[Rule::check(
        "smpp-pdu",
        On::Tcp,
        &[Lead::at(0, &[0, 0]).masked(4, 0x7f, 0).and(5, &[0])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.be32(0)?;
    let command = look.be32(4)?;
    let status = look.be32(8)?;
    let sequence = look.be32(12)?;
    let is_known = matches!(
        command & 0x7fff_ffff,
        1..=9 | 0x0b | 0x15 | 0x21 | 0x102 | 0x103
    );
    let is_request = command >> 31 == 0;
    if !is_known || !(16..4096).contains(&len) || (is_request && status != 0) || status > 0x500 {
        return Some(Answer::No);
    }
    Answer::when(
        (1..0x1000_0000).contains(&sequence) && (len > 16 || matches!(command & 0xff, 6 | 0x15)),
    )
}
