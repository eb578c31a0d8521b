//! Directories. RFC 4511 §4.1.1: a sequence of a number and an operation.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ldap",
    groups: &[Group::Access],
    ports: &[389, 3268],
    rules: &[
        Rule::check("ldap-stream", On::Tcp, &[Lead::start(&[0x30])], check),
        Rule::check(
            "ldap-datagram",
            On::Udp,
            &[Lead::start(&[0x30]).len_min(12)],
            check,
        ),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(0);
    let (_, len) = cursor.ber()?;
    let (tag, number) = cursor.ber()?;
    if tag != 2 || !(1..=4).contains(&number) || len < 5 {
        return Some(Answer::No);
    }
    cursor.take(number)?;
    let (operation, inner) = cursor.ber()?;
    if inner > len {
        return Some(Answer::No);
    }
    let next = cursor.take(2)?;
    Answer::when(match operation {
        // Bind: version 2 or 3. RFC 4511 §4.2.
        0x60 => next == [2, 1] && matches!(cursor.u8()?, 2 | 3),
        // Results: a code of one byte.
        0x61 | 0x65 | 0x67 | 0x69 | 0x6b | 0x6d | 0x6f | 0x78 => next == [10, 1],
        // A search: base, then scope and dereferencing as enumerations.
        0x63 => match next {
            [4, base] => {
                cursor.take(usize::from(*base))?;
                cursor.take(2)? == [10, 1]
            }
            _ => false,
        },
        // An entry found: a name, then a list.
        0x64 => next.first() == Some(&4),
        // Extended: [0] the operation's number in dots.
        0x77 => matches!(next, [0x80, 5..=40]) && cursor.take(2)? == b"1.",
        _ => false,
    })
}
