//! ZeroMQ's transport. RFC 23/ZMTP: a signature, a version.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "zmtp",
    groups: &[Group::Messaging],
    ports: &[],
    rules: &[Rule::pattern(
        "zmtp-signature",
        On::Tcp,
        r"\xff\x00{7}[\x00-\xff]\x7f",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"\xff\0\0\0\0\0\0\0\x01\x7f\x03"), Some("zmtp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"\xff\0\0\0\0\0\0\0\x01\x7e\x03"), Some("zmtp"));
    }
}
