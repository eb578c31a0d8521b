//! ANSI C12.22, meters: an ACSE element with titles under the meter's object identifiers.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "c1222",
    groups: &[Group::Industrial],
    ports: &[1153],
    rules: &[
        Rule::check("c1222-udp", On::Udp, &[Lead::start(&[0x60])], check),
        Rule::check("c1222-tcp", On::Tcp, &[Lead::start(&[0x60])], check),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(0);
    let (_, len) = cursor.ber()?;
    let (title, inner) = cursor.ber()?;
    let (id, size) = cursor.ber()?;
    // [2] the called title, then an absolute (6) or relative (0x0d) identifier that fills it.
    let is_title = title == 0xa2 && matches!(id, 6 | 0x0d | 0x80) && size.checked_add(2)? == inner;
    if !is_title || inner > len {
        return Some(Answer::No);
    }
    cursor.take(size)?;
    let next = cursor.u8()?;
    Answer::when(matches!(next, 0xa4 | 0xa6 | 0xa7 | 0xa8))
}
