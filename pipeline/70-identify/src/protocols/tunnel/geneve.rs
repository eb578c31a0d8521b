//! Geneve. RFC 8926 §3.4: version 0, what is inside, a network's number.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};
use flowpin_wire::tunnel::GeneveHeader;

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "geneve",
    groups: &[Group::Tunnel],
    ports: &[GeneveHeader::PORT],
    rules: &[Rule::check(
        "geneve-frame",
        On::Udp,
        &[Lead::ANY
            .masked(0, 0xc0, 0)
            .masked(1, 0x3f, 0)
            .and(2, &[0x65, 0x58])
            .and(7, &[0])
            .len_min(36)],
        frame,
    )],
};

fn frame(look: &Look<'_>) -> Option<Answer> {
    // Options, in words of four bytes.
    let at = usize::from(look.u8(0)? & 0x3f)
        .checked_mul(4)?
        .checked_add(8)?;
    let inner = look.within(at);
    Answer::when(match inner.be16(12)? {
        0x0800 => inner.u8(14)? >> 4 == 4,
        0x86dd => inner.u8(14)? >> 4 == 6,
        0x0806 => inner.be16(14)? == 1,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    /// An IPv4 packet of 20 bytes in a frame.
    fn framed(first: u8) -> Vec<u8> {
        let mut bytes = vec![0, 0, 0x65, 0x58, 0, 0, 7, 0];
        bytes.extend([2; 12]);
        bytes.extend([8, 0, first, 0, 0, 20]);
        bytes.resize(42, 1);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&framed(0x45)), Some("geneve"));
    }

    /// The version inside agrees with the kind of frame.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&framed(0x35)), Some("geneve"));
    }
}
