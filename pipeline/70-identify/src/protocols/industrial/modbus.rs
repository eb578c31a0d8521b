//! Modbus over TCP. MBAP: transaction, protocol 0, a length that the function's own agrees with.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "modbus",
    groups: &[Group::Industrial],
    ports: &[502],
    rules: &[Rule::check(
        "modbus-mbap",
        On::Tcp,
        &[Lead::at(2, &[0, 0, 0])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = usize::from(look.be16(4)?);
    let function = look.u8(7)?;
    if !(2..=254).contains(&len) {
        return Some(Answer::No);
    }
    let on_port = look.on_port(&[502]);
    let is_known = matches!(function, 1..=8 | 11 | 12 | 15..=17 | 20..=24 | 43 | 90);
    if function >= 0x80 {
        // An exception has one byte more.
        return Answer::when(len == 3 && matches!(look.u8(8)?, 1..=11) && on_port);
    }
    if !is_known {
        return Some(Answer::No);
    }
    // Reads ask for an address and a count; answers count their bytes.
    let is_sized = match function {
        1..=6 if len == 6 => function >= 5 || matches!(look.be16(10)?, 1..=2000),
        1..=4 => usize::from(look.u8(8)?) == len.checked_sub(3)?,
        15 | 16 => len == 6 || usize::from(look.u8(12)?) == len.checked_sub(7)?,
        43 => look.u8(8)? == 14,
        _ => false,
    };
    if is_sized && on_port {
        return Some(Answer::Yes);
    }
    // Otherwise the next message must begin where this one ends.
    let end = len.saturating_add(6);
    match look.be16(end.saturating_add(2)) {
        Some(protocol) => Answer::when(protocol == 0 && (is_sized || on_port)),
        None if !look.ended => None,
        None if on_port && look.bytes.len() == end => Some(Answer::Yes),
        None => Answer::likely(is_sized),
    }
}
