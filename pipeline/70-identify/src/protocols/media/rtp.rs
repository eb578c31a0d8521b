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

#[cfg(test)]
mod tests {
    use crate::testing::{datagram, datagrams};

    fn packet(sequence: u8, source: u8) -> [u8; 20] {
        let mut bytes = [0x5a; 20];
        bytes[..12].copy_from_slice(&[0x80, 0, 7, sequence, 0, 0, 1, sequence, 9, 9, 9, source]);
        bytes
    }

    fn two(one: &[u8], other: &[u8]) -> Option<&'static str> {
        datagrams(&[(true, one), (true, other)], (50_000, 50_001))
    }

    #[test]
    fn a_sequence_from_one_source_tells() {
        assert_eq!(two(&packet(1, 5), &packet(2, 5)), Some("rtp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_eq!(datagram(&packet(1, 5)), None);
        assert_eq!(two(&packet(1, 5), &packet(2, 6)), None);
        assert_eq!(two(&packet(1, 5), &packet(1, 5)), None);
    }
}
