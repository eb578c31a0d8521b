//! Remote desktop. [MS-RDPBCGR] §2.2.1.1: an X.224 request with a cookie or a negotiation;
//! [MS-RDPEUDP] §2.2.2: its UDP transport.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "rdp",
    groups: &[Group::Remote],
    ports: &[3389],
    rules: &[
        Rule::check(
            "rdp-request",
            On::Tcp,
            &[Lead::start(&[3, 0]).and(5, &[0xe0])],
            request,
        ),
        Rule::check(
            "rdp-confirm",
            On::Tcp,
            &[Lead::start(&[3, 0, 0]).and(5, &[0xd0])],
            confirm,
        ),
        Rule::check(
            "rdp-udp-syn",
            On::Udp,
            &[Lead::start(&[0xff, 0xff, 0xff, 0xff]).len_min(16)],
            syn,
        ),
        Rule::check(
            "rdp-udp-syn-ack",
            On::Udp,
            &[Lead::at(6, &[0]).len_min(100)],
            answer,
        ),
    ],
};

fn request(look: &Look<'_>) -> Option<Answer> {
    let len = usize::from(look.be16(2)?);
    let header = usize::from(look.u8(4)?);
    if header.checked_add(5)? != len {
        return Some(Answer::No);
    }
    let rest = look.range(11, len.checked_sub(11)?)?;
    let is_cookie = rest.starts_with(b"Cookie: ms");
    let is_negotiation = rest.len() >= 8
        && matches!(
            rest.get(rest.len().saturating_sub(8)..),
            Some([1, _, 8, 0, ..])
        );
    Answer::when(is_cookie || is_negotiation)
}

fn confirm(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.be16(2)? == 19 && matches!(look.array::<4>(11)?, [2 | 3, _, 8, 0]))
}

fn syn(look: &Look<'_>) -> Option<Answer> {
    let flags = look.be16(6)?;
    let (up, down) = (look.be16(12)?, look.be16(14)?);
    let is_size = |size: u16| (1132..=1232).contains(&size);
    Answer::when(flags & 1 == 1 && is_size(up) && is_size(down) && look.len >= 1132)
}

/// A server's packet: a window, then flags; DTLS or TLS follows after the acknowledgement.
fn answer(look: &Look<'_>) -> Option<Answer> {
    let flags = look.be16(6)?;
    if flags & 0xf000 != 0 || flags & 4 == 0 || !look.on_port(&[3389]) {
        return Some(Answer::No);
    }
    let rest = look.from(8);
    let is_tls = rest.windows(5).take(40).any(|part| {
        matches!(
            part,
            [0x16 | 0x17, 3, 0..=3, ..] | [0x16, 0xfe, 0xfd | 0xff, ..]
        )
    });
    Answer::when(is_tls || flags & 5 == 5)
}
