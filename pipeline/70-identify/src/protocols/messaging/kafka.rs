//! Kafka. Protocol guide: a length, an API with its version, a correlation, a client's name.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "kafka",
    groups: &[Group::Messaging],
    ports: &[9092],
    rules: &[Rule::check(
        "kafka-request",
        On::Tcp,
        &[Lead::start(&[0])
            .and(4, &[0])
            .masked(5, 0x80, 0)
            .and(6, &[0])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.be32(0)?;
    let api = look.be16(4)?;
    let version = look.be16(6)?;
    let name = look.be16(12)?;
    if !(10..1 << 24).contains(&len) || api > 92 || version > 18 {
        return Some(Answer::No);
    }
    if name == 0xffff || !(1..=255).contains(&name) {
        return Some(Answer::No);
    }
    let name = look.range(14, usize::from(name).min(16))?;
    Answer::when(name.iter().all(|byte| (b' '..=b'~').contains(byte)) && len > 10)
}
