//! World of Warcraft: servers and clients greet each other in words.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "world-of-warcraft",
    groups: &[Group::Games],
    ports: &[3724],
    rules: &[Rule::check(
        "wow-greeting",
        On::Tcp,
        &[Lead::at(1, b"\0WORLD ")],
        greeting,
    )],
};

fn greeting(look: &Look<'_>) -> Option<Answer> {
    look.has(2, b"WORLD OF WARCRAFT CONNECTION")
        .and_then(Answer::when)
}

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
