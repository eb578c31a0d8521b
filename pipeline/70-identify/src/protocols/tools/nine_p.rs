//! 9P. Its manual, version(5): a size, the version's message, without a tag.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "9p",
    groups: &[Group::Files],
    ports: &[564],
    rules: &[Rule::pattern(
        "9p-version",
        On::Tcp,
        r"[\x13-\x19]\x00\x00\x00[de]\xff\xff[\x00-\xff]{4}[\x06-\x0c]\x009P2000",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\x13\0\0\0d\xff\xff\0\x20\0\0\x06\x009P2000"),
            Some("9p")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"\x13\0\0\0d\xff\xff\0\x20\0\0\x06\x009P1000"),
            Some("9p")
        );
    }
}
