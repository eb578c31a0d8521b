//! BACnet/IP. ASHRAE 135 annex J: 0x81, a function, the datagram's length; version 1 inside.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "bacnet",
    groups: &[Group::Industrial],
    ports: &[47808],
    rules: &[Rule::check(
        "bacnet-bvlc",
        On::Udp,
        &[Lead::start(&[0x81]).masked(2, 0xf8, 0)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let function = look.u8(1)?;
    if usize::from(look.be16(2)?) != look.len {
        return Some(Answer::No);
    }
    Answer::when(match function {
        4 => look.u8(10)? == 1,
        9..=11 => look.u8(4)? == 1,
        0 => look.len == 6,
        1 | 3 => look.len % 10 == 4,
        2 | 6 | 7 => look.len == 4,
        5 => look.len == 6,
        _ => false,
    })
}
