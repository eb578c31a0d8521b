//! Firebird: connect, an operation, a version, a machine's kind.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "firebird",
    groups: &[Group::Database],
    ports: &[3050],
    rules: &[Rule::pattern(
        "firebird-connect",
        On::Tcp,
        r"\x00\x00\x00\x01\x00\x00\x00[\x13\x14\x52]\x00\x00\x00[\x02\x03]\x00\x00\x00[\x00-\x30]",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\0\0\0\x01\0\0\0\x13\0\0\0\x03\0\0\0\x24\0\0\0\x05a.fdb"),
            Some("firebird")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"\0\0\0\x01\0\0\0\x13\0\0\0\x05\0\0\0\x24"),
            Some("firebird")
        );
    }
}
