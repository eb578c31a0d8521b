//! Multicast DNS. RFC 6762 §3: messages of DNS on port 5353.

use super::message;
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mdns",
    groups: &[Group::Naming],
    ports: &[5353],
    rules: &[Rule::check(
        "mdns-message",
        On::Udp,
        &[Lead::at(4, &[0]).len_min(12).on_ports(&[5353])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Some(message::check(look))
}
