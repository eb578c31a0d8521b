//! Link-local name resolution. RFC 4795 §2.1: messages of DNS on port 5355.

use super::message;
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "llmnr",
    groups: &[Group::Naming],
    ports: &[5355],
    rules: &[Rule::check(
        "llmnr-message",
        On::Udp,
        &[Lead::at(4, &[0]).len_min(12).on_ports(&[5355])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Some(message::check(look))
}
