//! ZigBee frames in datagrams: two letters, version 2, data or an acknowledgement.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "zep",
    groups: &[Group::Things],
    ports: &[17754],
    rules: &[Rule::pattern(
        "zep-frame",
        On::Udp,
        r"EX\x02(\x01[\x0b-\x1a]|\x02)",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(b"EX\x02\x01\x0b\0\x01\0\xff"), Some("zep"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"EX\x02\x03\x0b\0\x01\0\xff"), Some("zep"));
    }
}
