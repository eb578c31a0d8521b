//! Netgear's switches: version 1, an operation, their letters at 24.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "nsdp",
    groups: &[Group::Naming],
    ports: &[63321, 63322],
    rules: &[Rule::check(
        "nsdp-packet",
        On::Udp,
        &[Lead::start(&[1]).masked(1, 0xf8, 0).len_min(32)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when((1..=4).contains(&look.u8(1)?) && look.range(24, 4)? == b"NSDP")
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn packet(last: u8) -> Vec<u8> {
        let mut bytes = vec![1, 1];
        bytes.resize(24, 0);
        bytes.extend([b'N', b'S', b'D', last, 0, 0, 0, 0]);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&packet(b'P')), Some("nsdp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&packet(b'Q')), Some("nsdp"));
    }
}
