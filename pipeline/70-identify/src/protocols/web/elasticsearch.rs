//! Elasticsearch's transport: "ES", a length, and versions.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "elasticsearch",
    groups: &[Group::Database],
    ports: &[9300, 9200],
    rules: &[Rule::check(
        "elasticsearch-transport",
        On::Tcp,
        &[Lead::start(b"ES")],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.be32(2)?;
    let request = look.be64(6)?;
    let status = look.u8(14)?;
    // Identifiers count up from 1; of the status four bits are in use.
    Answer::when((1..1 << 28).contains(&len) && request < 1 << 40 && status < 16)
}
