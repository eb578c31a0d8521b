//! CAPWAP. RFC 5415 §4.3: a preamble, a header length, and messages inside that agree.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};
use flowpin_wire::tunnel::CapwapHeader;

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "capwap",
    groups: &[Group::Management, Group::Tunnel],
    ports: &[5246, CapwapHeader::PORT],
    rules: &[Rule::check(
        "capwap-header",
        On::Udp,
        &[
            Lead::start(&[0]).len_min(16),
            Lead::start(&[1, 0, 0, 0]).len_min(16),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    if look.u8(0)? == 1 {
        // Encrypted: DTLS records begin 4 bytes later.
        let version = look.be16(5)?;
        return Answer::when(
            (20..=23).contains(&look.u8(4)?) && matches!(version, 0xfeff | 0xfefd),
        );
    }
    let header = usize::from(look.u8(1)? >> 3).checked_mul(4)?;
    if !(8..=64).contains(&header) || look.u8(7)? & 7 != 0 {
        return Some(Answer::No);
    }
    let on_port = look.on_port(&[5246, CapwapHeader::PORT]);
    // Control: enterprise 0 (or another), message, sequence, length to the end, flags 0.
    let kind = look.be32(header)?;
    let len = usize::from(look.be16(header.checked_add(5)?)?);
    let is_control = (1..=26).contains(&kind) || (kind >> 8 == 0x3398 && on_port);
    let end = header.checked_add(5)?.checked_add(len)?;
    let is_sized = end == look.len || end.checked_add(3)? == look.len;
    Answer::when(
        (is_control && is_sized)
            || (on_port && look.be16(2)? >> 14 == 0 && look.be16(1)? & 0x0400 == 0),
    )
}
