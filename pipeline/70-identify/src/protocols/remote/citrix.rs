//! Citrix ICA: three escapes and the name, and again.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "citrix",
    groups: &[Group::Remote],
    ports: &[1494, 2598],
    rules: &[Rule::pattern(
        "citrix-ica",
        On::Tcp,
        r"(\x7f\x7fICA\x00|\x1aCGP/01)",
    )],
};
