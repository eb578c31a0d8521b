//! MAVLink 1 and 2: a length that fits, a message, its checksum with the message's own byte.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mavlink",
    groups: &[Group::Things],
    ports: &[14550],
    rules: &[
        Rule::check(
            "mavlink-1",
            On::Udp,
            &[Lead::start(&[0xfe]).len_min(8)],
            one,
        ),
        Rule::check(
            "mavlink-2",
            On::Udp,
            &[Lead::start(&[0xfd]).masked(2, 0xfe, 0).len_min(12)],
            two,
        ),
    ],
};

fn one(look: &Look<'_>) -> Option<Answer> {
    let end = usize::from(look.u8(1)?).checked_add(6)?;
    message(look, u32::from(look.u8(5)?), end)
}

fn two(look: &Look<'_>) -> Option<Answer> {
    let end = usize::from(look.u8(1)?).checked_add(10)?;
    let [a, b, c] = look.array(7)?;
    message(look, u32::from_le_bytes([a, b, c, 0]), end)
}

/// The first message; others may follow in the same datagram.
fn message(look: &Look<'_>, number: u32, end: usize) -> Option<Answer> {
    let own = match number {
        0 => 50,
        1 => 124,
        2 => 137,
        4 => 237,
        20 => 214,
        21 => 159,
        22 => 220,
        23 => 168,
        24 => 24,
        30 => 39,
        33 => 104,
        74 => 20,
        76 => 152,
        77 => 143,
        111 => 34,
        _ => return Some(Answer::No),
    };
    let sum = look
        .range(1, end.checked_sub(1)?)?
        .iter()
        .fold(0xffff, |sum, &byte| add(sum, byte));
    Answer::when(look.le16(end)? == add(sum, own))
}

/// The checksum of X.25, a byte further.
fn add(sum: u16, byte: u8) -> u16 {
    let [low, _] = sum.to_le_bytes();
    let mut mixed = byte ^ low;
    mixed ^= mixed << 4;
    let mixed = u16::from(mixed);
    (sum >> 8) ^ (mixed << 8) ^ (mixed << 3) ^ (mixed >> 4)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    /// A heartbeat whose checksum was made with this byte.
    fn heartbeat(own: u8) -> Vec<u8> {
        let mut bytes = vec![0xfe, 9, 0, 1, 1, 0, 0, 0, 0, 0, 2, 3, 0x51, 4, 3];
        let sum = bytes[1..]
            .iter()
            .fold(0xffff, |sum, &byte| super::add(sum, byte));
        bytes.extend(super::add(sum, own).to_le_bytes());
        bytes
    }

    /// The algorithm's usual proof.
    #[test]
    fn nine_digits_have_the_known_sum() {
        let sum = b"123456789"
            .iter()
            .fold(0xffff, |sum, &byte| super::add(sum, byte));
        assert_eq!(!sum, 0x906e);
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&heartbeat(50)), Some("mavlink"));
    }

    /// Another message of the same bytes has another checksum.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&heartbeat(51)), Some("mavlink"));
    }
}
