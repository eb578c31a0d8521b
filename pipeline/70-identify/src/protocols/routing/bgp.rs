//! BGP. RFC 4271 §4.1: sixteen bytes of ones, a length, a type.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "bgp",
    groups: &[Group::Routing],
    ports: &[179],
    rules: &[Rule::check(
        "bgp-marker",
        On::Tcp,
        &[Lead::start(&[0xff; 8])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let is_marked = look.range(0, 16)?.iter().all(|&byte| byte == 0xff);
    let len = look.be16(16)?;
    Answer::when(is_marked && (19..=4096).contains(&len) && (1..=5).contains(&look.u8(18)?))
}
