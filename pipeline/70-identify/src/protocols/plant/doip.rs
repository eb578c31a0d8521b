//! Diagnosis over IP. ISO 13400-2 §9: a version, its complement, a kind, a length that fits.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "doip",
    groups: &[Group::Industrial],
    ports: &[13400],
    rules: &[
        Rule::check(
            "doip-message",
            On::Udp,
            &[
                Lead::start(&[1, 254]),
                Lead::start(&[2, 253]),
                Lead::start(&[3, 252]),
                Lead::start(&[4, 251]),
                Lead::start(&[255, 0]),
            ],
            check,
        ),
        Rule::check(
            "doip-stream",
            On::Tcp,
            &[
                Lead::start(&[1, 254]),
                Lead::start(&[2, 253]),
                Lead::start(&[3, 252]),
                Lead::start(&[4, 251]),
                Lead::start(&[255, 0]),
            ],
            check,
        ),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = usize::try_from(look.be32(4)?).ok()?;
    let is_sized = match look.be16(2)? {
        0 => len == 1,
        1 | 7 | 0x4001 | 0x4003 => len == 0,
        2 => len == 6,
        3 => len == 17,
        4 => matches!(len, 32 | 33),
        5 => matches!(len, 7 | 11),
        6 => matches!(len, 9 | 13),
        8 => len == 2,
        0x4002 => matches!(len, 3 | 7),
        0x4004 => len == 1,
        0x8001..=0x8003 => (5..1 << 16).contains(&len),
        _ => false,
    };
    let is_whole = !matches!(look.on, On::Udp) || len.checked_add(8)? == look.len;
    Answer::when(is_sized && is_whole)
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&[2, 0xfd, 0, 1, 0, 0, 0, 0]), Some("doip"));
        assert_eq!(
            client(&[2, 0xfd, 0, 5, 0, 0, 0, 7, 0x0e, 0, 0, 0, 0, 0, 0]),
            Some("doip")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&[2, 0xfc, 0, 1, 0, 0, 0, 0]), Some("doip"));
        assert_ne!(datagram(&[2, 0xfd, 0, 1, 0, 0, 0, 1]), Some("doip"));
    }
}
