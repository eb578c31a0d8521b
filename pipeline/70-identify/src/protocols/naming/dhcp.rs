//! Addresses for hosts. RFC 2131 §2: 236 bytes, then the magic cookie.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dhcp",
    groups: &[Group::Naming],
    ports: &[67, 68],
    rules: &[Rule::check(
        "dhcp-cookie",
        On::Udp,
        &[
            Lead::start(&[1]).len_min(240),
            Lead::start(&[2]).len_min(240),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.u8(2)? <= 16 && look.be32(236)? == 0x6382_5363)
}
