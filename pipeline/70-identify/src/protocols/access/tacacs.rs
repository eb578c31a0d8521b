//! TACACS+. RFC 8907 §4.1: a header of 12 bytes, the first number is 1.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "tacacs",
    groups: &[Group::Access],
    ports: &[49],
    rules: &[Rule::check(
        "tacacs-header",
        On::Tcp,
        &[Lead::masked(Lead::ANY, 0, 0xfe, 0xc0)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let [_, kind, sequence, flags] = look.array(0)?;
    let len = look.be32(8)?;
    let order = if look.to_server { 1 } else { 2 };
    let is_header = (1..=3).contains(&kind) && sequence == order && matches!(flags, 0 | 1 | 4 | 5);
    Answer::when(is_header && (6..=4096).contains(&len))
}
