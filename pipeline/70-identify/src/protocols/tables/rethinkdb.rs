//! RethinkDB: the magic number of one of five versions.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "rethinkdb",
    groups: &[Group::Database],
    ports: &[28015],
    rules: &[Rule::pattern(
        "rethinkdb-version",
        On::Tcp,
        r"(\xc3\xbd\xc2\x34|\x20\x2d\x0c\x40|\x3e\xe8\x75\x5f|\xe1\x81\x30\x72|\x35\xba\x61\xaf)",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\xc3\xbd\xc2\x34{\"protocol_version\":0}\0"),
            Some("rethinkdb")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"\xc3\xbd\xc2\x35{\"protocol_version\":0}\0"),
            Some("rethinkdb")
        );
    }
}
