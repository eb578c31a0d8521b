//! Tuya's devices: a mark, a number, a command, a length, a mark at the end.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "tuya",
    groups: &[Group::Things],
    ports: &[6666, 6667, 6668],
    rules: &[
        Rule::check(
            "tuya-datagram",
            On::Udp,
            &[
                Lead::start(&[0, 0, 0x55, 0xaa]).len_min(24),
                Lead::start(&[0, 0, 0x66, 0x99]).len_min(24),
            ],
            check,
        ),
        Rule::check(
            "tuya-stream",
            On::Tcp,
            &[
                Lead::start(&[0, 0, 0x55, 0xaa]).len_min(24),
                Lead::start(&[0, 0, 0x66, 0x99]).len_min(24),
            ],
            check,
        ),
    ],
};

/// The later version has two bytes more in front of its number.
fn check(look: &Look<'_>) -> Option<Answer> {
    let at = if look.u8(2)? == 0x55 { 8usize } else { 10 };
    let (command, len) = (look.be32(at)?, look.be32(at.checked_add(4)?)?);
    Answer::when(command < 256 && (8..4096).contains(&len))
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(&[
                0, 0, 0x55, 0xaa, 0, 0, 0, 0, 0, 0, 0, 0x13, 0, 0, 0, 8, 1, 2, 3, 4, 0, 0, 0xaa,
                0x55
            ]),
            Some("tuya")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(&[
                0, 0, 0x55, 0xaa, 0, 0, 0, 0, 0, 0, 1, 0x13, 0, 0, 0, 8, 1, 2, 3, 4, 0, 0, 0xaa,
                0x55
            ]),
            Some("tuya")
        );
    }
}
