//! RTMP 1.0 §5.2: a version, then 1536 bytes that the other side echoes.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "rtmp",
    groups: &[Group::Media],
    ports: &[1935],
    rules: &[Rule::check(
        "rtmp-handshake",
        On::Tcp,
        &[Lead::start(&[3]), Lead::start(&[6])],
        check,
    )],
};

/// Time and version come first; a digest or random bytes fill the rest, and no request is longer.
fn check(look: &Look<'_>) -> Option<Answer> {
    let zero = look.be32(5)?;
    let is_versioned = zero == 0
        || matches!(
            look.array::<4>(5)?,
            [9 | 10 | 128, 0, _, 2] | [4 | 3 | 13, 0..=9, _, _]
        );
    if !is_versioned {
        return Some(Answer::No);
    }
    if look.bytes.len() < 1537 {
        return if look.ended { Some(Answer::No) } else { None };
    }
    // Random bytes: all values of the top bits occur.
    let random = look.range(9, 256)?;
    let seen = random.iter().fold(0u8, |seen, &byte| {
        seen | 1u8.wrapping_shl(u32::from(byte >> 5))
    });
    Answer::when(seen == 0xff)
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    fn hello(version: u8) -> Vec<u8> {
        let mut bytes = vec![3, 1, 2, 3, 4, version, 0, 0, 0];
        bytes.extend((0..1528u32).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 24) as u8));
        bytes
    }

    #[test]
    fn its_first_message_tells() {
        assert_eq!(client(&hello(0)), Some("rtmp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_eq!(client(&hello(1)), None);
        assert_eq!(client(&hello(0)[..1500]), None);
    }
}
