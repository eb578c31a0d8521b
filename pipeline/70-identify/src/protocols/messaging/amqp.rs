//! AMQP. §2.2 (1.0), §4.2.2 (0-9-1): the name and a version.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "amqp",
    groups: &[Group::Messaging],
    ports: &[5672],
    rules: &[Rule::pattern(
        "amqp-header",
        On::Tcp,
        r"(?-u)AMQP[\x00-\x03][\x00\x01][\x00\x08-\x0a][\x00-\x0a]",
    )],
};
