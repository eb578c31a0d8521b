//! Check Point's clustering: a magic number and a version on port 8116.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "cpha",
    groups: &[Group::Routing],
    ports: &[8116],
    rules: &[Rule::check(
        "cpha-magic",
        On::Udp,
        &[Lead::start(&[0x1a, 0x90]).len_min(16)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let cluster = look.be16(4)?;
    let kind = look.be16(6)?;
    let _ = cluster;
    Answer::when(kind <= 32 && look.on_port(&[8116]))
}
