//! Streaming ACN. ANSI E1.31 §5: a preamble, its name.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "sacn",
    groups: &[Group::Media],
    ports: &[5568],
    rules: &[Rule::pattern(
        "sacn-packet",
        On::Udp,
        r"\x00\x10\x00\x00ASC-E1\.17\x00\x00\x00",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(b"\0\x10\0\0ASC-E1.17\0\0\0\x72\x6e"), Some("sacn"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"\0\x10\0\0ASC-E1.18\0\0\0\x72\x6e"), Some("sacn"));
    }
}
