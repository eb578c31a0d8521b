//! OpenWire, ActiveMQ's own: a length, type 1, "ActiveMQ".

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "openwire",
    groups: &[Group::Messaging],
    ports: &[61616],
    rules: &[Rule::check(
        "openwire-info",
        On::Tcp,
        &[Lead::at(4, &[1])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Some(if look.has(5, b"ActiveMQ")? {
        Answer::Yes
    } else {
        Answer::No
    })
}
