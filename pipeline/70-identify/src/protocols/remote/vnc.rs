//! VNC. RFC 6143 §7.1.1: both sides begin with a version.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "vnc",
    groups: &[Group::Remote],
    ports: &[5900],
    rules: &[Rule::pattern(
        "vnc-version",
        On::Tcp,
        r"RFB 00[0-9]\.[0-9]{3}\n",
    )],
};
