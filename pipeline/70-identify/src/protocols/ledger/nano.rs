//! Nano's peers: a letter for the network, three versions, a kind of message.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "nano",
    groups: &[Group::Ledger, Group::Peers],
    ports: &[7075],
    rules: &[
        Rule::pattern(
            "nano-header",
            On::Tcp,
            r"R[ABCX][\x10-\x1f]{3}[\x02-\x11][\x00-\x07]",
        ),
        Rule::pattern(
            "nano-header-udp",
            On::Udp,
            r"R[ABCX][\x10-\x1f]{3}[\x02-\x11][\x00-\x07].{24}",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(&[b'R', b'C', 0x14, 0x14, 0x12, 0x0a, 5, 0]),
            Some("nano")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"RCRCRC\x00\x00"), Some("nano"));
    }
}
