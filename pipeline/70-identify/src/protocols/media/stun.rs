//! STUN and TURN. RFC 8489 §5: a type, a length, the magic cookie.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "stun",
    groups: &[Group::Media],
    ports: &[3478, 5349],
    rules: &[
        Rule::check("stun-cookie", On::Udp, &[COOKIE], check),
        Rule::check("stun-cookie-tcp", On::Tcp, &[COOKIE], check),
        Rule::check(
            "stun-framed",
            On::Tcp,
            &[Lead::at(6, &[0x21, 0x12]).masked(2, 0xc0, 0)],
            framed,
        ),
        Rule::check("stun-classic", On::Udp, CLASSIC, classic),
    ],
};

const COOKIE: Lead = Lead::at(4, &[0x21, 0x12, 0xa4, 0x42])
    .masked(0, 0xc0, 0)
    .len_min(20);
/// RFC 3489 §11.1 has no cookie: binding and shared secret only.
const CLASSIC: &[Lead] = &[
    Lead::start(&[0, 1]).masked(2, 0xfe, 0).len_min(20),
    Lead::start(&[1, 1]).masked(2, 0xfe, 0).len_min(20),
    Lead::start(&[1, 0x11]).masked(2, 0xfe, 0).len_min(20),
];

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.be16(2)?;
    let kind = look.be16(0)?;
    let whole = usize::from(len).saturating_add(20);
    Answer::when(kind < 0x4000 && len % 4 == 0 && look.len >= whole.min(20))
}

/// RFC 4571 §2: a length before each message.
fn framed(look: &Look<'_>) -> Option<Answer> {
    let is_cookie = look.be32(6)? == 0x2112_a442;
    let len = look.be16(0)?;
    Answer::when(is_cookie && look.be16(4)?.saturating_add(20) == len)
}

fn classic(look: &Look<'_>) -> Option<Answer> {
    let len = usize::from(look.be16(2)?);
    if !look.is_long(len.saturating_add(20))? {
        return Some(Answer::No);
    }
    if len == 0 {
        // A bare request: 32 bits have agreed, but so few that it must repeat.
        return Some(Answer::Likely);
    }
    let mut cursor = look.cursor(20);
    for _ in 0..16 {
        if cursor.is_end() {
            return Some(Answer::Yes);
        }
        let name = cursor.be16()?;
        let len = cursor.len16()?;
        let is_known = matches!(name, 1..=0x2a | 0x8000..=0x80ff);
        let padded = len.checked_next_multiple_of(4)?;
        if !is_known || len > cursor.left() {
            return Some(Answer::No);
        }
        cursor.skip(if padded > cursor.left() { len } else { padded })?;
    }
    Some(Answer::Yes)
}
