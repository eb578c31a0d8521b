//! TZSP: frames that a sniffer sends on, behind tags.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "tzsp",
    groups: &[Group::Management, Group::Tunnel],
    ports: &[37008],
    rules: &[Rule::check(
        "tzsp-frame",
        On::Udp,
        &[Lead::start(&[1])
            .masked(1, 0xfe, 0)
            .and(2, &[0, 1])
            .len_min(20)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(4);
    for _ in 0..16 {
        match cursor.u8()? {
            0 => {}
            1 => {
                let frame = look.within(cursor.at());
                let first = frame.u8(14)?;
                return Answer::when(match frame.be16(12)? {
                    0x0800 => first >> 4 == 4,
                    0x86dd => first >> 4 == 6,
                    0x0806 => first == 0,
                    _ => false,
                });
            }
            _ => {
                let len = cursor.len8()?;
                cursor.skip(len)?;
            }
        }
    }
    Some(Answer::No)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(&[
                1, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 8, 0, 0x45
            ]),
            Some("tzsp")
        );
    }

    /// The version inside agrees with the kind of frame.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(&[
                1, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 8, 0, 0x35
            ]),
            Some("tzsp")
        );
    }
}
