//! Tunnels through an HTTP proxy. RFC 9110 §9.3.6: CONNECT names a host and a port.

use super::lines::Head;
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "http-connect",
    groups: &[Group::Web, Group::Tunnel],
    ports: &[3128, 8080],
    rules: &[Rule::check("http-connect", On::Tcp, &[Lead::start(b"CONNECT ")], check).ranked(50)],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(Head::is_request(Head::of(look.bytes).line()?))
}
