//! World of Warcraft: servers and clients greet each other in words.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "world-of-warcraft",
    groups: &[Group::Games],
    ports: &[3724],
    rules: &[Rule::pattern(
        "wow-greeting",
        On::Tcp,
        r".\x00WORLD OF WARCRAFT CONNECTION - ",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::server;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            server(b"\x30\x00WORLD OF WARCRAFT CONNECTION - SERVER TO CLIENT"),
            Some("world-of-warcraft")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            server(b"\x30\x01WORLD OF WARCRAFT CONNECTION - SERVER TO CLIENT"),
            Some("world-of-warcraft")
        );
    }
}
