//! Beckhoff's ADS over AMS: a length, two addresses with ports, a command.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ads",
    groups: &[Group::Industrial],
    ports: &[48898],
    rules: &[Rule::check(
        "ams-header",
        On::Tcp,
        &[Lead::start(&[0, 0])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.le32(2)?;
    let inner = look.le32(26)?;
    let command = look.le16(22)?;
    let flags = look.le16(24)?;
    Answer::when(
        len.checked_sub(32)? == inner && command <= 9 && flags & 0xff00 == 0 && flags & 4 != 0,
    )
}
