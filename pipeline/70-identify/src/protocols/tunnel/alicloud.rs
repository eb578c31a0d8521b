//! Alibaba Cloud's agent: a magic number and flags.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "alicloud",
    groups: &[Group::Management],
    ports: &[8999],
    rules: &[Rule::check(
        "alicloud-magic",
        On::Tcp,
        &[Lead::start(&[0xce, 0xfa, 0xbe, 0xba])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.be32(0)? == 0xcefa_beba)
}
