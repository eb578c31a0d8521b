//! Redis. RESP: commands as arrays of counted strings.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "redis",
    groups: &[Group::Database],
    ports: &[6379],
    rules: &[Rule::pattern(
        "redis-command",
        On::Tcp,
        concat!(
            r"(\*[1-9][0-9]?[0-9]?\r\n\$[1-9][0-9]?\r\n[A-Za-z]",
            r"|-NOAUTH Authentication required|\+PONG\r\n|-ERR [a-z ]+(command|AUTH",
            r"|password))",
        ),
    )],
};
