//! Media in real time. RFC 3550 §5.1: no mark of its own, so two packets must agree.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "rtp",
    groups: &[Group::Media],
    ports: &[],
    rules: &[Rule::check(
        "rtp-sequence",
        On::Udp,
        &[Lead::masked(Lead::ANY, 0, 0xc0, 0x80).len_min(12)],
        check,
    )
    .ranked(150)],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let before = Look {
        bytes: look.earlier,
        ..*look
    };
    let kind = look.u8(1)? & 0x7f;
    // RFC 5761 §4: these would be RTCP.
    if (64..=95).contains(&kind) || before.bytes.len() < 12 {
        return Some(Answer::No);
    }
    let gap = look.be16(2)?.wrapping_sub(before.be16(2)?);
    let same_source = look.be32(8)? == before.be32(8)? && look.be32(8)? != 0;
    let same_first = before.u8(0)? & 0xc0 == 0x80;
    let time = look.be32(4)?.wrapping_sub(before.be32(4)?);
    let same_kind = before.u8(1)? & 0x7f == kind;
    let is_close = (1..=64).contains(&gap) && time.wrapping_add(1 << 20) < 2 << 20;
    Answer::when(same_source && same_first && is_close && (same_kind || gap == 1))
}
