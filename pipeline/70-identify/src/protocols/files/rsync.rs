//! rsync's daemon: both sides begin with the version.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "rsync",
    groups: &[Group::Files],
    ports: &[873],
    rules: &[Rule::pattern(
        "rsync-version",
        On::Tcp,
        r"@RSYNCD: [23][0-9](\.[0-9])?[ \n]",
    )],
};
