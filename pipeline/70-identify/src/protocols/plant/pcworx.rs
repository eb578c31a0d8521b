//! Phoenix Contact's controllers: the bytes that a session begins with.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "pcworx",
    groups: &[Group::Industrial],
    ports: &[1962],
    rules: &[Rule::pattern(
        "pcworx-hello",
        On::Tcp,
        r"\x01\x01\x00\x1a\x00\x00\x00\x00\x78\x80",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(&[1, 1, 0, 0x1a, 0, 0, 0, 0, 0x78, 0x80, 0, 3, 0, 12]),
            Some("pcworx")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(&[1, 1, 0, 0x1a, 0, 0, 0, 0, 0x79, 0x80, 0, 3, 0, 12]),
            Some("pcworx")
        );
    }
}
