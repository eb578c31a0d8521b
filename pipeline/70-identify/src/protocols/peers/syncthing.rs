//! Syncthing: announcements to neighbours, and hello messages, by their magic numbers.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "syncthing",
    groups: &[Group::Peers, Group::Files],
    ports: &[21027, 22000],
    rules: &[
        Rule::pattern("syncthing-announcement", On::Udp, r"\x2e\xa7\xd9\x0b\x0a"),
        Rule::pattern(
            "syncthing-hello",
            On::Tcp,
            r"\x2e\xa7\xd9\x0b\x00[\x00-\x10]",
        ),
        Rule::pattern("syncthing-relay", On::Tcp, r"\x9e\x79\xbc\x40\x00\x00\x00"),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"\x2e\xa7\xd9\x0b\x0a\x20\x01\x02"),
            Some("syncthing")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"\x2e\xa7\xd9\x0c\x0a\x20\x01\x02"),
            Some("syncthing")
        );
    }
}
