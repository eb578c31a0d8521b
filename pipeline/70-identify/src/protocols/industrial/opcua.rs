//! OPC UA. Part 6 §7.1.2: three letters, a chunk mark, a length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "opcua",
    groups: &[Group::Industrial],
    ports: &[4840],
    rules: &[Rule::check(
        "opcua-message",
        On::Tcp,
        &[
            Lead::start(b"HELF"),
            Lead::start(b"ACKF"),
            Lead::start(b"ERRF"),
            Lead::start(b"RHEF"),
            Lead::start(b"OPNF"),
            Lead::start(b"MSGF"),
            Lead::start(b"CLOF"),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.le32(4)?;
    Answer::when((16..1 << 24).contains(&len) && look.le32(8)? < 1 << 31)
}
