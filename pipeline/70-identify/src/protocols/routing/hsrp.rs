//! HSRP. RFC 2281 §5.1, and version 2's type, length, value.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "hsrp",
    groups: &[Group::Routing],
    ports: &[1985, 2029],
    rules: &[
        Rule::check(
            "hsrp-1",
            On::Udp,
            &[Lead::start(&[0]).len_min(20).on_ports(&[1985])],
            one,
        ),
        Rule::check(
            "hsrp-2",
            On::Udp,
            &[Lead::start(&[1, 40, 2]).len_min(42)],
            two,
        ),
    ],
};

fn one(look: &Look<'_>) -> Option<Answer> {
    let [version, opcode, state, hello] = look.array(0)?;
    let is_state = matches!(state, 0 | 1 | 2 | 4 | 8 | 16);
    let is_whole = look.len == 20 && version == 0 && opcode <= 3 && hello > 0;
    Answer::when(is_whole && is_state && look.u8(7)? == 0)
}

fn two(look: &Look<'_>) -> Option<Answer> {
    let [opcode, state, version] = look.array(3)?;
    Answer::when(opcode <= 3 && state <= 6 && matches!(version, 4 | 6))
}
