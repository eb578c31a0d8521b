//! Monero's levin: a signature of eight bytes, a length, flags.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "monero",
    groups: &[Group::Ledger, Group::Peers],
    ports: &[18080],
    rules: &[Rule::check(
        "levin-signature",
        On::Tcp,
        &[Lead::start(&[1, 0x21, 1, 1, 1, 1, 1, 1])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.be64(0)? == 0x0121_0101_0101_0101)
}
