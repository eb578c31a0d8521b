//! Delay-tolerant networks over TCP. RFC 7242 §4.1, RFC 9174 §4.2: a word, a version.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "tcpcl",
    groups: &[Group::Things],
    ports: &[4556],
    rules: &[Rule::pattern(
        "tcpcl-contact",
        On::Tcp,
        r"dtn![\x03\x04][\x00-\x0f]",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"dtn!\x04\0"), Some("tcpcl"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"dtn!\x05\0"), Some("tcpcl"));
    }
}
