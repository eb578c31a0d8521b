//! Java's debug wire: both sides begin with the same word.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "jdwp",
    groups: &[Group::Management],
    ports: &[8000],
    rules: &[Rule::pattern("jdwp-hello", On::Tcp, r"JDWP-Handshake")],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"JDWP-Handshake"), Some("jdwp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"JDWP-Handshook"), Some("jdwp"));
    }
}
