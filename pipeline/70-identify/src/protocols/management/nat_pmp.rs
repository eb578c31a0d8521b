//! NAT-PMP and PCP. RFC 6886 §3, RFC 6887 §7: a version, an opcode, a fixed length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "nat-pmp",
    groups: &[Group::Naming],
    ports: &[5351, 5350],
    rules: &[Rule::check(
        "nat-pmp",
        On::Udp,
        &[
            Lead::start(&[0]).on_ports(&[5351, 5350]),
            Lead::start(&[2]).on_ports(&[5351, 5350]),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let [version, opcode] = look.array(0)?;
    let is_sized = match (version, opcode) {
        (0, 0) => look.len == 2,
        (0, 1 | 2) => look.len == 12 && look.be16(2)? == 0,
        (0, 128) => look.len == 12,
        (0, 129 | 130) => look.len == 16,
        (2, _) => look.len >= 24 && look.len.is_multiple_of(4) && opcode & 0x7f < 4,
        _ => false,
    };
    Answer::when(is_sized)
}
