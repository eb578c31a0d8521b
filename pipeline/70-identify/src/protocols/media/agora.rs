//! Agora's SD-RTN: a call set up with the name of its edge.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "sd-rtn",
    groups: &[Group::Media],
    ports: &[8130],
    rules: &[Rule::check(
        "sd-rtn-name",
        On::Udp,
        &[Lead::at(4, &[0, 0, 0x21, 0]).len_min(20)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.range(13, 4)? == b"SNI\0")
}
