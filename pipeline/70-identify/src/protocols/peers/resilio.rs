//! Resilio Sync: its older name, then what is asked for.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "resilio",
    groups: &[Group::Peers, Group::Files],
    ports: &[],
    rules: &[
        Rule::pattern("resilio-hello", On::Tcp, r"BSYNC\x00"),
        Rule::pattern("resilio-datagram", On::Udp, r"BSYNC\x00"),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"BSYNC\0\0\0\x03d5:nonce16:"), Some("resilio"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"BSYNK\0\0\0\x03d5:nonce16:"), Some("resilio"));
    }
}
