//! IEC 60870-5-104. §5: 0x68, a length, four control bytes; frames follow each other.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "iec104",
    groups: &[Group::Industrial],
    ports: &[2404],
    rules: &[Rule::check(
        "iec104-frames",
        On::Tcp,
        &[Lead::start(&[0x68])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(0);
    let mut bits = if look.on_port(&[2404]) { 8u32 } else { 0 };
    for _ in 0..8 {
        let Some(start) = cursor.u8() else {
            return if look.ended { Some(Answer::No) } else { None };
        };
        let len = cursor.len8()?;
        let [a, b, c, d] = *cursor.take(4)?.first_chunk()?;
        if start != 0x68 || !(4..=253).contains(&len) {
            return Some(Answer::No);
        }
        bits = bits.saturating_add(8);
        match a & 3 {
            // Start, stop, test: one bit of six.
            3 => {
                let is_one = matches!(a, 0x07 | 0x0b | 0x13 | 0x23 | 0x43 | 0x83);
                if len != 4 || b != 0 || c != 0 || d != 0 || !is_one {
                    return Some(Answer::No);
                }
                bits = bits.saturating_add(32);
            }
            1 => {
                if len != 4 || a != 1 || b != 0 || c & 1 != 0 {
                    return Some(Answer::No);
                }
                bits = bits.saturating_add(20);
            }
            _ => {
                let kind = cursor.u8()?;
                let count = cursor.u8()? & 0x7f;
                let cause = cursor.u8()? & 0x3f;
                if c & 1 != 0 || len < 10 || !(1..=127).contains(&kind) || cause > 47 || count == 0
                {
                    return Some(Answer::No);
                }
                bits = bits.saturating_add(2);
                cursor.skip(len.saturating_sub(7))?;
            }
        }
        if bits >= 30 {
            return Some(Answer::Yes);
        }
    }
    Some(Answer::Likely)
}
