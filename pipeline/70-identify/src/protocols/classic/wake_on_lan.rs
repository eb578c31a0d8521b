//! The packet that wakes: six times 255, then an address sixteen times.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "wake-on-lan",
    groups: &[Group::Management],
    ports: &[9],
    rules: &[Rule::check(
        "magic-packet",
        On::Udp,
        &[Lead::start(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).len_min(102)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let all = look.range(6, 96)?;
    let first = look.range(6, 6)?;
    Answer::when(all.chunks_exact(6).all(|address| address == first))
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn packet(times: usize) -> Vec<u8> {
        let mut bytes = vec![0xff; 6];
        bytes.extend([2, 0, 0x5e, 1, 2, 3].repeat(times));
        bytes.resize(102, 2);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&packet(16)), Some("wake-on-lan"));
    }

    /// Fifteen times are not enough.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&packet(15)), Some("wake-on-lan"));
    }
}
