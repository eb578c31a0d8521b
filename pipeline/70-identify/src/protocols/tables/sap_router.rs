//! SAP's network interface: a length, a word for routes, errors and pings.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "sap-router",
    groups: &[Group::Database, Group::Messaging],
    ports: &[3299],
    rules: &[Rule::pattern(
        "sap-ni",
        On::Tcp,
        r"\x00\x00[\x00-\x0f].NI_(ROUTE|ERR|PING|PONG)",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\0\0\0\x40NI_ROUTE\0\x02\x27\x02"),
            Some("sap-router")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"\0\0\0\x40NI_ROUGE\0\x02"), Some("sap-router"));
    }
}
