//! PPTP. RFC 2637 §1.4: length, type 1, a magic cookie.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "pptp",
    groups: &[Group::Tunnel],
    ports: &[1723],
    rules: &[Rule::check(
        "pptp-cookie",
        On::Tcp,
        &[Lead::at(2, &[0, 1, 0x1a, 0x2b, 0x3c, 0x4d])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.be32(4)? == 0x1a2b_3c4d && look.be16(0)? <= 512)
}
