//! ArangoDB's VelocyStream: a line with its version.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "arangodb",
    groups: &[Group::Database],
    ports: &[8529],
    rules: &[Rule::pattern(
        "velocystream",
        On::Tcp,
        r"VST/1\.[01]\r\n\r\n",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"VST/1.1\r\n\r\n\x1e\0\0\0"), Some("arangodb"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"VST/2.1\r\n\r\n"), Some("arangodb"));
    }
}
