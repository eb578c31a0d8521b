//! NATS: the server tells about itself in JSON, the client answers so.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "nats",
    groups: &[Group::Messaging],
    ports: &[4222],
    rules: &[Rule::pattern(
        "nats-info",
        On::Tcp,
        r#"(INFO|CONNECT) \{ ?"[a-z_]+":"#,
    )],
};
