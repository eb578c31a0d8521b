//! Apache Ignite's thin clients: a handshake with version and kind of client.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ignite",
    groups: &[Group::Database],
    ports: &[10800],
    rules: &[Rule::pattern(
        "ignite-handshake",
        On::Tcp,
        r"[\x08-\xff]\x00\x00\x00\x01[\x01\x02]\x00[\x00-\x0f]\x00[\x00-\x0f]\x00\x02",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\x08\0\0\0\x01\x01\0\x07\0\0\0\x02"),
            Some("ignite")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"\x08\0\0\0\x02\x01\0\x07\0\0\0\x02"),
            Some("ignite")
        );
    }
}
