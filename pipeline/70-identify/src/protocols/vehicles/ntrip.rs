//! Corrections of positions. NTRIP: the table of sources.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ntrip",
    groups: &[Group::Things],
    ports: &[2101],
    rules: &[Rule::pattern(
        "ntrip-table",
        On::Tcp,
        r"SOURCETABLE 200 OK\r\n",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::server;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            server(b"SOURCETABLE 200 OK\r\nServer: a\r\n"),
            Some("ntrip")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(server(b"SOURCETABLE 404 OK\r\n"), Some("ntrip"));
    }
}
