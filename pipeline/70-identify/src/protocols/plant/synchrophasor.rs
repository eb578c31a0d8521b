//! Synchrophasors. IEEE C37.118.2 §6.2: a mark, a kind, a length, a checksum at the end.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "synchrophasor",
    groups: &[Group::Industrial],
    ports: &[4712, 4713],
    rules: &[
        Rule::check(
            "synchrophasor-tcp",
            On::Tcp,
            &[Lead::start(&[0xaa]).masked(1, 0x88, 0).len_min(16)],
            check,
        ),
        Rule::check(
            "synchrophasor-udp",
            On::Udp,
            &[Lead::start(&[0xaa]).masked(1, 0x88, 0).len_min(16)],
            check,
        ),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let kind = look.u8(1)?;
    let len = usize::from(look.be16(2)?);
    if kind >> 4 > 5 || kind & 7 == 0 || !(16..=4096).contains(&len) || !look.is_long(len)? {
        return Some(Answer::No);
    }
    let end = len.checked_sub(2)?;
    Answer::when(sum(look.range(0, end)?) == look.be16(end)?)
}

/// CRC-CCITT: x^16 + x^12 + x^5 + 1, beginning with ones.
fn sum(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |sum, &byte| {
        (0..8).fold(sum ^ u16::from(byte) << 8, |sum: u16, _| {
            (sum << 1) ^ if sum & 0x8000 == 0 { 0 } else { 0x1021 }
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram};

    /// A command to a device whose last byte is off by so much.
    fn command(off: u8) -> Vec<u8> {
        let mut bytes = vec![
            0xaa, 0x41, 0, 18, 0, 7, 0x48, 0x52, 0x71, 0x60, 0, 0, 0, 0, 0, 2,
        ];
        bytes.extend(super::sum(&bytes).to_be_bytes());
        bytes[17] ^= off;
        bytes
    }

    /// The algorithm's usual proof.
    #[test]
    fn nine_digits_have_the_known_sum() {
        assert_eq!(super::sum(b"123456789"), 0x29b1);
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&command(0)), Some("synchrophasor"));
        assert_eq!(client(&command(0)), Some("synchrophasor"));
    }

    /// The checksum must agree.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&command(1)), Some("synchrophasor"));
    }
}
