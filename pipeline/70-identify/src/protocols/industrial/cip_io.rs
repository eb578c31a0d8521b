//! CIP's implicit messages over UDP. CIP volume 2 §2-6: items with lengths to the end.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "cip",
    groups: &[Group::Industrial],
    ports: &[2222],
    rules: &[Rule::check(
        "cip-io",
        On::Udp,
        &[
            Lead::start(&[2, 0, 2, 0x80, 8, 0]),
            Lead::start(&[2, 0, 0, 0x80, 6, 0]),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let at = if look.u8(2)? == 2 { 14usize } else { 12 };
    let data = look.le16(at)?;
    let len = usize::from(look.le16(at.checked_add(2)?)?);
    Answer::when(data == 0x00b1 && at.checked_add(4)?.checked_add(len)? == look.len)
}
