//! CAN frames over UDP, as the ISO11898 gateways send them.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "socketcan",
    groups: &[Group::Industrial],
    ports: &[11898],
    rules: &[Rule::pattern("can-over-udp", On::Udp, r"ISO11898")],
};
