//! netcode: the name and version that a connection request begins with.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "netcode",
    groups: &[Group::Games],
    ports: &[40000],
    rules: &[Rule::pattern(
        "netcode-request",
        On::Udp,
        r"\x00NETCODE 1\.0[0-9]\x00",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"\x00NETCODE 1.02\x00\x00\x00\x00\x00"),
            Some("netcode")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"\x00NETCODE 2.02\x00\x00\x00\x00\x00"),
            Some("netcode")
        );
    }
}
