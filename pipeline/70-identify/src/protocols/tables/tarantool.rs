//! Tarantool: its greeting names it and its version.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "tarantool",
    groups: &[Group::Database],
    ports: &[3301],
    rules: &[Rule::pattern(
        "tarantool-greeting",
        On::Tcp,
        r"Tarantool [0-9]{1,2}\.[0-9]{1,3}",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::server;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(server(b"Tarantool 2.11.0 (Binary) 1f\n"), Some("tarantool"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(server(b"Tarantula 2.11.0\n"), Some("tarantool"));
    }
}
