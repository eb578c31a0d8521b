//! DNSCrypt. Its protocol, version 2, §6: what answers begin with.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dnscrypt",
    groups: &[Group::Naming, Group::Encrypted],
    ports: &[443, 5443],
    rules: &[
        Rule::pattern("dnscrypt-answer", On::Udp, r"r6fnvWj8"),
        Rule::pattern("dnscrypt-answer-tcp", On::Tcp, r"[\x00-\x0f].r6fnvWj8"),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(b"r6fnvWj8\x01\x02\x03"), Some("dnscrypt"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"r6fnvWj9\x01\x02\x03"), Some("dnscrypt"));
    }
}
