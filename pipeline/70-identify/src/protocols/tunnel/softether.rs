//! SoftEther: counted names and values, first what is asked for.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "softether",
    groups: &[Group::Tunnel],
    ports: &[5004],
    rules: &[Rule::pattern(
        "softether-pack",
        On::Udp,
        r"\x00\x00\x00[\x01-\x20]\x00\x00\x00\x07opcode\x00\x00\x00",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"\0\0\0\x03\0\0\0\x07opcode\0\0\0\x02\0\0\0\x01\0\0\0\x09get_token"),
            Some("softether")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"\0\0\0\x03\0\0\0\x08opcodes\0\0\0\x02"),
            Some("softether")
        );
    }
}
