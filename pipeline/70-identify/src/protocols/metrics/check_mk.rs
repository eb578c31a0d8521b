//! Checkmk's agent: its first section, or TLS announced.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "check-mk",
    groups: &[Group::Management],
    ports: &[6556],
    rules: &[Rule::pattern(
        "check-mk-section",
        On::Tcp,
        r"<<<check_mk>>>\n",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::server;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            server(b"<<<check_mk>>>\nVersion: 2.2.0\n"),
            Some("check-mk")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            server(b"<<<check_me>>>\nVersion: 2.2.0\n"),
            Some("check-mk")
        );
    }
}
