//! MPEG's transport stream: packets of 188 bytes, each with its mark.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mpeg-ts",
    groups: &[Group::Media],
    ports: &[1234],
    rules: &[Rule::check(
        "mpeg-ts-packets",
        On::Udp,
        &[Lead::start(&[0x47]).masked(1, 0x80, 0).len_min(188)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    if !look.len.is_multiple_of(188) {
        return Some(Answer::No);
    }
    // ISO 13818-1 §2.4.3: neither an error nor a reserved kind of packet.
    let are_packets = look.bytes.chunks_exact(188).all(|packet| {
        packet.first() == Some(&0x47) && packet.get(3).is_some_and(|flags| flags & 0x30 != 0)
    });
    let again = look.earlier.first() == Some(&0x47);
    Some(match (are_packets, look.len >= 3 * 188 || again) {
        (true, true) => Answer::Yes,
        (true, false) => Answer::Likely,
        _ => Answer::No,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    /// Three packets, the last of which begins so.
    fn packets(last: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        for first in [0x47, 0x47, last] {
            bytes.extend([first, 0x40, 0x11, 0x10]);
            bytes.extend([0xff; 184]);
        }
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&packets(0x47)), Some("mpeg-ts"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&packets(0x48)), Some("mpeg-ts"));
    }
}
