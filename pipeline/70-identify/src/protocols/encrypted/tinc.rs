//! tinc: lines of numbers; ID is 0, then a name and the version.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "tinc",
    groups: &[Group::Tunnel, Group::Encrypted],
    ports: &[655],
    rules: &[Rule::pattern(
        "tinc-id",
        On::Tcp,
        r"0 [a-zA-Z0-9_]+ 17(\.[0-9]+)?\n",
    )],
};
