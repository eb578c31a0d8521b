//! L2TP. RFC 2661 §3.1, §4.1: flags of a control message, its length, its first element.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};
use flowpin_wire::tunnel::L2tpHeader;

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "l2tp",
    groups: &[Group::Tunnel],
    ports: &[L2tpHeader::PORT],
    rules: &[
        Rule::check(
            "l2tp-control",
            On::Udp,
            &[Lead::start(&[0xc8, 2]).len_min(12)],
            two,
        ),
        Rule::check(
            "l2tp-3-control",
            On::Udp,
            &[Lead::start(&[0xc8, 3]).len_min(12)],
            two,
        ),
        Rule::check(
            "l2tp-3-udp",
            On::Udp,
            &[Lead::start(&[0, 0, 0, 0, 0xc8, 3]).len_min(16)],
            inner,
        ),
    ],
};

fn two(look: &Look<'_>) -> Option<Answer> {
    let len = look.len16_at(2)?;
    if len != look.len {
        return Some(Answer::No);
    }
    // Nothing inside acknowledges; else the kind of message comes first.
    Answer::when(len == 12 || (look.be16(12)? & 0xc3ff == 0x8008 && look.be32(14)? == 0))
}

fn inner(look: &Look<'_>) -> Option<Answer> {
    two(&look.within(4))
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(&[
                0xc8, 2, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 8, 0, 0, 0, 0, 0, 1
            ]),
            Some("l2tp")
        );
        assert_eq!(
            datagram(&[0xc8, 2, 0, 12, 0, 1, 0, 0, 0, 0, 0, 0]),
            Some("l2tp")
        );
    }

    /// RFC 2661 §4.4.1: the first element is the kind of message.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(&[
                0xc8, 2, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 8, 0, 0, 0, 1, 0, 1
            ]),
            Some("l2tp")
        );
        assert_ne!(
            datagram(&[0xc8, 2, 0, 13, 0, 1, 0, 0, 0, 0, 0, 0]),
            Some("l2tp")
        );
    }
}
