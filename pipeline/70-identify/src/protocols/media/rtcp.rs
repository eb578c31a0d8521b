//! Control of media. RFC 3550 §6.1: packets that follow each other to the datagram's end.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "rtcp",
    groups: &[Group::Media],
    ports: &[],
    rules: &[Rule::check("rtcp-compound", On::Udp, LEADS, check)],
};

/// RFC 3550 §12.1, RFC 4585 §6.1: types from 200 on; §6.1: the first is a report.
const LEADS: &[Lead] = &[
    Lead::ANY
        .masked(0, 0xc0, 0x80)
        .masked(1, 0xfe, 200)
        .len_min(8),
    Lead::ANY
        .masked(0, 0xc0, 0x80)
        .masked(1, 0xff, 206)
        .len_min(12),
    Lead::ANY
        .masked(0, 0xc0, 0x80)
        .masked(1, 0xff, 205)
        .len_min(12),
];

fn check(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(0);
    let mut count = 0u8;
    while cursor.left() >= 4 && count < 16 {
        let first = cursor.u8()?;
        let kind = cursor.u8()?;
        let words = cursor.len16()?;
        if first >> 6 != 2 || !(200..=213).contains(&kind) {
            break;
        }
        let len = words.saturating_mul(4);
        if len > cursor.left() {
            return Some(Answer::No);
        }
        if count == 0 {
            let reports = usize::from(first & 31).saturating_mul(6);
            let least = if kind == 200 { 6usize } else { 1 }.saturating_add(reports);
            if matches!(kind, 200 | 201) && words < least {
                return Some(Answer::No);
            }
        }
        cursor.skip(len)?;
        count = count.saturating_add(1);
    }
    // SRTCP (RFC 3711 §3.4) has an index and a tag behind it.
    Some(if cursor.is_end() && (count > 1 || look.len >= 12) {
        Answer::Yes
    } else if count > 0 && cursor.left() <= 14 {
        Answer::Likely
    } else {
        Answer::No
    })
}
