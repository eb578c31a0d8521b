//! San Andreas multiplayer: four letters, the server's address, a question.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "samp",
    groups: &[Group::Games],
    ports: &[7777],
    rules: &[Rule::pattern("samp-query", On::Udp, r"SAMP.{6}[ircdpx]")],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(b"SAMP\x7f\x00\x00\x01\x61\x1ei"), Some("samp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"SAMP\x7f\x00\x00\x01\x61\x1ez"), Some("samp"));
    }
}
