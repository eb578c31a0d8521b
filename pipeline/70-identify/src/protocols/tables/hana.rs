//! SAP HANA: the bytes that a session begins with.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "hana",
    groups: &[Group::Database],
    ports: &[30015],
    rules: &[Rule::pattern(
        "hana-hello",
        On::Tcp,
        r"\xff\xff\xff\xff\x04\x20\x00\x04\x01\x00\x00\x01\x01\x01",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\xff\xff\xff\xff\x04\x20\x00\x04\x01\x00\x00\x01\x01\x01"),
            Some("hana")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"\xff\xff\xff\xff\x04\x20\x00\x05\x01\x00\x00\x01\x01\x01"),
            Some("hana")
        );
    }
}
