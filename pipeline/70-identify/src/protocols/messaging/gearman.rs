//! Gearman: "\0REQ" or "\0RES", a type, a length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "gearman",
    groups: &[Group::Messaging],
    ports: &[4730],
    rules: &[Rule::check(
        "gearman-packet",
        On::Tcp,
        &[Lead::start(b"\0REQ"), Lead::start(b"\0RES")],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when((1..=42).contains(&look.be32(4)?))
}
