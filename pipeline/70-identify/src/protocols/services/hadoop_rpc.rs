//! Hadoop's remote calls: four letters and a version.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "hadoop-rpc",
    groups: &[Group::Messaging, Group::Database],
    ports: &[8020],
    rules: &[Rule::pattern(
        "hadoop-hello",
        On::Tcp,
        r"hrpc[\x04-\x0a][\x00-\x51]",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"hrpc\x09\0\0\0\0\0"), Some("hadoop-rpc"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"hrpc \0\0\0"), Some("hadoop-rpc"));
    }
}
