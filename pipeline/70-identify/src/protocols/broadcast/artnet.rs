//! Art-Net: its name, an operation.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "artnet",
    groups: &[Group::Media],
    ports: &[6454],
    rules: &[Rule::pattern("artnet-packet", On::Udp, r"Art-Net\x00")],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(b"Art-Net\0\0\x50\0\x0e\0\0"), Some("artnet"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"Art-Not\0\0\x50\0\x0e\0\0"), Some("artnet"));
    }
}
