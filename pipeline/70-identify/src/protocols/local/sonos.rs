//! Sonos players' time exchange: a marker, a counter, zeros.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "sonos",
    groups: &[Group::Media, Group::Things],
    ports: &[7080],
    rules: &[Rule::check(
        "sonos-time",
        On::Udp,
        &[Lead::start(&[0, 0x13, 0x59, 0x84])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.len >= 8)
}
