//! GTP: control (TS 29.060, 29.274), user plane and charging (TS 32.295).

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};
use flowpin_wire::tunnel::GtpuHeader;

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "gtp",
    groups: &[Group::Tunnel],
    ports: &[2123, GtpuHeader::PORT, 3386],
    rules: &[
        Rule::check(
            "gtp-1",
            On::Udp,
            &[Lead::ANY.masked(0, 0xf8, 0x30).len_min(8)],
            one,
        ),
        Rule::check(
            "gtp-2",
            On::Udp,
            &[Lead::ANY.masked(0, 0xe7, 0x40).len_min(8)],
            two,
        ),
        Rule::check(
            "gtp-prime",
            On::Udp,
            &[Lead::ANY.masked(0, 0x1e, 0x0e).len_min(6)],
            prime,
        ),
    ],
};

fn one(look: &Look<'_>) -> Option<Answer> {
    let kind = look.u8(1)?;
    let is_known =
        matches!(kind, 1..=7 | 16..=37 | 48..=62 | 70 | 96..=105 | 112..=123 | 240 | 254 | 255);
    let is_whole = usize::from(look.be16(2)?).checked_add(8)? == look.len;
    Some(
        if is_known && is_whole && look.on_port(&[2123, GtpuHeader::PORT]) {
            Answer::Yes
        } else if is_known && is_whole {
            Answer::Likely
        } else {
            Answer::No
        },
    )
}

fn two(look: &Look<'_>) -> Option<Answer> {
    let kind = look.u8(1)?;
    let len = usize::from(look.be16(2)?).checked_add(4)?;
    let is_known =
        matches!(kind, 1..=3 | 32..=41 | 64..=73 | 95..=103 | 130..=179 | 200 | 201 | 211 | 212);
    // A second message may be piggybacked.
    let is_whole = len == look.len || (look.u8(0)? & 0x10 != 0 && len < look.len);
    let at = if look.u8(0)? & 8 == 0 { 8usize } else { 12 };
    let spare = look.u8(at.checked_sub(1)?)?;
    Some(
        if is_known && is_whole && (look.on_port(&[2123]) || (spare == 0 && at < len)) {
            Answer::Yes
        } else {
            Answer::No
        },
    )
}

fn prime(look: &Look<'_>) -> Option<Answer> {
    let kind = look.u8(1)?;
    let header = if look.u8(0)? & 1 == 0 && look.u8(0)? >> 5 == 0 {
        20usize
    } else {
        6
    };
    let is_known = matches!(kind, 1..=7 | 240 | 241);
    let is_whole = usize::from(look.be16(2)?).checked_add(header)? == look.len;
    Answer::when(is_known && is_whole && look.on_port(&[3386]))
}
