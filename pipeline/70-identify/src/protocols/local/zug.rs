//! Zug, a consensus of ledger nodes: a fixed first word.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "zug",
    groups: &[Group::Games],
    ports: &[19000],
    rules: &[Rule::check(
        "zug-first",
        On::Udp,
        &[Lead::start(&[0x00, 0x7a, 0x55, 0x47, 0x10]).len_min(16)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.len >= 16)
}
