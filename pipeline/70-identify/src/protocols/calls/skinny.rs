//! Cisco's Skinny client control: a length, a version, a message number.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "skinny",
    groups: &[Group::Media],
    ports: &[2000],
    rules: &[Rule::check(
        "skinny-message",
        On::Tcp,
        &[Lead::at(2, &[0, 0])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.le32(0)?;
    let version = look.le32(4)?;
    let message = look.le32(8)?;
    let is_version = matches!(version, 0 | 10..=22);
    if !(4..=2048).contains(&len) || !is_version || message > 0x160 {
        return Some(Answer::No);
    }
    // Version 0 is too common a number to tell anything by itself.
    let on_port = look.on_port(&[2000]);
    if on_port && (version > 0 || len >= 12) {
        return Some(Answer::Yes);
    }
    // The next message must begin where this one ends.
    let next = usize::try_from(len).ok()?.checked_add(8)?;
    let further = look.le32(next)?;
    let same = look.le32(next.checked_add(4)?)?;
    let another = look.le32(next.checked_add(8)?)?;
    let is_next = (4..=2048).contains(&further) && same == version && another <= 0x160;
    Answer::when(is_next && (version > 0 || on_port) && message > 0)
}
