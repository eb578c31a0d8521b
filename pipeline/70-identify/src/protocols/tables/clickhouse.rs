//! ClickHouse's own protocol: hello, with the program's name on either side.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "clickhouse",
    groups: &[Group::Database],
    ports: &[9000],
    rules: &[Rule::pattern(
        "clickhouse-hello",
        On::Tcp,
        r"\x00[\x08-\x40]ClickHouse",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\x00\x11ClickHouse client\x16\x08"),
            Some("clickhouse")
        );
        assert_eq!(server(b"\x00\x0aClickHouse\x16\x08"), Some("clickhouse"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"\x01\x11ClickHouse client\x16\x08"),
            Some("clickhouse")
        );
    }
}
