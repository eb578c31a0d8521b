//! Precision time. IEEE 1588 §13.3: version 2, a kind, a length that fits.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ptp",
    groups: &[Group::Naming, Group::Media],
    ports: &[319, 320],
    rules: &[Rule::check(
        "ptp-message",
        On::Udp,
        &[Lead::ANY.masked(1, 0x0f, 2).masked(4, 0x80, 0).len_min(44)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = usize::from(look.be16(2)?);
    let is_sized = match look.u8(0)? & 0x0f {
        0 | 1 | 8 => len == 44,
        2 | 3 | 9 | 10 => len == 54,
        11..=13 => len >= 44,
        _ => false,
    };
    // The datagram may be padded by two bytes (§E); a reserved word is zero.
    let is_whole = len == look.len || len.checked_add(2)? == look.len;
    Answer::when(is_sized && is_whole && look.be32(16)? == 0)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn message(len: u8) -> Vec<u8> {
        let mut bytes = vec![0, 2, 0, len];
        bytes.resize(20, 0);
        bytes.resize(44, 5);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&message(44)), Some("ptp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&message(45)), Some("ptp"));
    }
}
