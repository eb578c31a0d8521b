//! SNMP. RFC 3416 §3, RFC 3412 §6: BER from the first byte to the last.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "snmp",
    groups: &[Group::Management],
    ports: &[161, 162],
    rules: &[Rule::check(
        "snmp-message",
        On::Udp,
        &[Lead::start(&[0x30]).len_min(20)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(0);
    let (_, len) = cursor.ber()?;
    if len != cursor.left() {
        return Some(Answer::No);
    }
    let version = cursor.take(3)?;
    let (tag, inner) = cursor.ber()?;
    Answer::when(match (version, tag) {
        // A community, then a message (RFC 1157 §4, RFC 1901 §3).
        ([2, 1, 0 | 1], 4) => {
            cursor.skip(inner)?;
            let (message, rest) = cursor.ber()?;
            (0xa0..=0xa8).contains(&message) && rest == cursor.left()
        }
        // Version 3: a header of four fields.
        ([2, 1, 3], 0x30) => cursor.u8()? == 2,
        _ => false,
    })
}
