//! Radmin 2 and 3: a version, a length that fits, one of few messages.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "radmin",
    groups: &[Group::Remote],
    ports: &[4899],
    rules: &[Rule::check(
        "radmin-hello",
        On::Tcp,
        &[Lead::start(&[1, 0, 0, 0])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.u8(4)?;
    let middle = look.array::<4>(5)?;
    let word = look.u8(8)?;
    Answer::when(match len {
        1 => matches!(middle, [0, 0, 0, 8] | [0, 0, 0, 0x1b]) && look.u8(9)? == word,
        5 => matches!(middle, [0, 0, 2, 0x27]) && look.u8(9)? == 0x27,
        _ => false,
    })
}
