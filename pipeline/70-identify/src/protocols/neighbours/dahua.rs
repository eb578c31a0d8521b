//! Dahua's cameras: a header of 32 bytes, four letters in it.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dahua",
    groups: &[Group::Naming, Group::Media],
    ports: &[37810, 37777],
    rules: &[
        Rule::pattern("dhip-header", On::Udp, r"\x20\x00\x00\x00DHIP"),
        Rule::pattern("dhip-stream", On::Tcp, r"\x20\x00\x00\x00DHIP"),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(b"\x20\0\0\0DHIP\0\0\0\0\0\0\0\0"), Some("dahua"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"\x20\0\0\0DHCP\0\0\0\0\0\0\0\0"), Some("dahua"));
    }
}
