//! Synology's finder: four bytes that count up, four letters.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "synology",
    groups: &[Group::Naming],
    ports: &[9999],
    rules: &[Rule::pattern(
        "synology-find",
        On::Udp,
        r"\x12\x34\x56\x78SYNO",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"\x12\x34\x56\x78SYNO\xa4\x04\0\0"),
            Some("synology")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"\x12\x34\x56\x79SYNO\xa4\x04\0\0"),
            Some("synology")
        );
    }
}
