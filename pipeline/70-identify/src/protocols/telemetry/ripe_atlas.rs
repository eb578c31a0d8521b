//! Probes of RIPE's measurement network: a marker, address and port.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ripe-atlas",
    groups: &[Group::Management],
    ports: &[],
    rules: &[
        Rule::pattern("ripe-atlas-udp", On::Udp, r"MGLNDD_"),
        Rule::pattern("ripe-atlas-tcp", On::Tcp, r"MGLNDD_"),
    ],
};
