//! Bolt, as Neo4j speaks it: four bytes of magic, then versions.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "bolt",
    groups: &[Group::Database],
    ports: &[7687],
    rules: &[Rule::pattern(
        "bolt-magic",
        On::Tcp,
        r"\x60\x60\xb0\x17\x00",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\x60\x60\xb0\x17\x00\x00\x01\x04\x00\x00\x00\x03"),
            Some("bolt")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"\x60\x60\xb0\x18\x00\x00\x01\x04"), Some("bolt"));
    }
}
