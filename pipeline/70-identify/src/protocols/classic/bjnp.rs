//! Canon's printers and scanners: four letters, a device, a command.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "bjnp",
    groups: &[Group::Naming],
    ports: &[8611, 8612],
    rules: &[Rule::pattern(
        "bjnp-packet",
        On::Udp,
        r"BJN[PB][\x01\x02\x81\x82][\x01\x10\x11\x20\x21\x30-\x33]\x00",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(b"BJNP\x01\x01\0\0\0\0\0\0\0\0\0\0"), Some("bjnp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"BJNP\x03\x01\0\0\0\0\0\0\0\0\0\0"), Some("bjnp"));
    }
}
