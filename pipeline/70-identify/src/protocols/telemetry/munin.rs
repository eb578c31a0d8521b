//! Munin's nodes greet with their name.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "munin",
    groups: &[Group::Management],
    ports: &[4949],
    rules: &[Rule::pattern(
        "munin-greeting",
        On::Tcp,
        r"# munin node at ",
    )],
};
