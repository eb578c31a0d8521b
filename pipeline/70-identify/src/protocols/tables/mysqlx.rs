//! MySQL's X protocol: the notice that its server greets with.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mysqlx",
    groups: &[Group::Database],
    ports: &[33060],
    rules: &[Rule::pattern(
        "mysqlx-notice",
        On::Tcp,
        r"\x05\x00\x00\x00\x0b\x08\x05\x1a\x00",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::server;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(server(b"\x05\0\0\0\x0b\x08\x05\x1a\0"), Some("mysqlx"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(server(b"\x05\0\0\0\x0b\x08\x06\x1a\0"), Some("mysqlx"));
    }
}
