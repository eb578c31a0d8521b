//! TiVo's beacons.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "tivo",
    groups: &[Group::Naming, Group::Media],
    ports: &[2190],
    rules: &[
        Rule::pattern("tivo-beacon", On::Udp, r"(?i)TiVoConnect=[01]\n"),
        Rule::pattern(
            "tivo-beacon-tcp",
            On::Tcp,
            r"(?i)(\x00\x00.\x7f)?TiVoConnect=[01]\n",
        ),
    ],
};
