//! CoAP. RFC 7252 §3: version 1, a token, options whose numbers grow, a marker before the payload.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "coap",
    groups: &[Group::Things],
    ports: &[5683],
    rules: &[Rule::check(
        "coap-options",
        On::Udp,
        &[
            Lead::ANY
                .masked(0, 0xc8, 0x40)
                .masked(1, 0x10, 0)
                .len_min(4),
            Lead::ANY.masked(0, 0xcf, 0x48).len_min(4),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let [first, code] = look.array(0)?;
    let token = usize::from(first & 15);
    // RFC 7252 §12.1: methods 1 to 7, responses 2.xx, 4.xx, 5.xx.
    let is_code = matches!(code, 0..=7 | 0x41..=0x45 | 0x5f | 0x80..=0x8f | 0x9d | 0xa0..=0xa8);
    if token > 8 || !is_code {
        return Some(Answer::No);
    }
    let on_port = look.on_port(&[5683]);
    if code == 0 {
        return Answer::when(look.len == 4 && token == 0 && on_port);
    }
    let mut cursor = look.cursor(4);
    cursor.skip(token)?;
    let mut options = 0u32;
    let mut number = 0usize;
    while !cursor.is_end() {
        let byte = cursor.u8()?;
        if byte == 0xff {
            if cursor.left() == 0 {
                return Some(Answer::No);
            }
            options = options.saturating_add(1);
            break;
        }
        let delta = extended(&mut cursor, byte >> 4)?;
        let len = extended(&mut cursor, byte & 15)?;
        number = number.saturating_add(delta);
        // RFC 7252 §12.2: the registry ends far below; most are below 300.
        if len > cursor.left() || number > 2100 || len > 1034 {
            return Some(Answer::No);
        }
        cursor.skip(len)?;
        options = options.saturating_add(1);
    }
    let is_answer = look.reply.get(2..4) == look.bytes.get(2..4);
    Some(if on_port || is_answer {
        Answer::Yes
    } else if options > 0 {
        Answer::Likely
    } else {
        Answer::No
    })
}

/// RFC 7252 §3.1: 13 and 14 announce one and two bytes more.
fn extended(cursor: &mut crate::Cursor<'_>, nibble: u8) -> Option<usize> {
    match nibble {
        13 => cursor.len8()?.checked_add(13),
        14 => cursor.len16()?.checked_add(269),
        15 => None,
        _ => Some(usize::from(nibble)),
    }
}
