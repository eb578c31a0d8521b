//! sFlow 5: version, address, counts, samples whose lengths agree.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "sflow",
    groups: &[Group::Management],
    ports: &[6343],
    rules: &[Rule::check(
        "sflow-5",
        On::Udp,
        &[
            Lead::start(&[0, 0, 0, 5, 0, 0, 0, 1]).len_min(28),
            Lead::start(&[0, 0, 0, 5, 0, 0, 0, 2]).len_min(40),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(4);
    let family = cursor.be32()?;
    cursor.skip(if family == 1 { 16 } else { 28 })?;
    let samples = cursor.be32()?;
    Answer::when(samples <= 64)
}
