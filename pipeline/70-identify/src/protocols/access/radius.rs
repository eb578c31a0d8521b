//! RADIUS. RFC 2865 §3: code, length of the datagram, attributes to its end.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "radius",
    groups: &[Group::Access],
    ports: &[1812, 1813, 1645, 1646, 3799],
    rules: &[Rule::check("radius-attributes", On::Udp, LEADS, check)],
};

/// Codes in ranges, and a length of 4096 at most (RFC 2865 §3).
const LEADS: &[Lead] = &[
    Lead::ANY.masked(0, 0xf8, 0).masked(2, 0xf0, 0).len_min(20),
    Lead::ANY.masked(0, 0xf8, 8).masked(2, 0xf0, 0).len_min(20),
    Lead::ANY
        .masked(0, 0xf8, 0x28)
        .masked(2, 0xf0, 0)
        .len_min(20),
];

fn check(look: &Look<'_>) -> Option<Answer> {
    let code = look.u8(0)?;
    let len = usize::from(look.be16(2)?);
    if !matches!(code, 1..=5 | 11..=13 | 40..=45) || len != look.len {
        return Some(Answer::No);
    }
    let mut cursor = look.cursor(20);
    let mut count = 0u8;
    while !cursor.is_end() {
        let kind = cursor.u8()?;
        let len = cursor.len8()?.checked_sub(2)?;
        if kind == 0 || len > cursor.left() {
            return Some(Answer::No);
        }
        cursor.skip(len)?;
        count = count.saturating_add(1);
    }
    Answer::when(count >= 2 || look.on_port(&[1812, 1813, 1645, 1646]))
}
