//! Android's debug bridge: a command, whose complement stands at the end of its header.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "adb",
    groups: &[Group::Management],
    ports: &[5555],
    rules: &[
        Rule::pattern("adb-host", On::Tcp, r"00[0-9a-f]{2}host(-[a-z]+)?:[a-z]"),
        Rule::check(
            "adb-message",
            On::Tcp,
            &[
                Lead::start(b"CNXN").len_min(24),
                Lead::start(b"AUTH").len_min(24),
                Lead::start(b"OPEN").len_min(24),
                Lead::start(b"STLS").len_min(24),
            ],
            check,
        ),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.be32(20)? == !look.be32(0)?)
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"CNXN\0\0\0\x01\0\0\x10\0\x07\0\0\0\x32\x02\0\0\xbc\xb1\xa7\xb1host::\0"),
            Some("adb")
        );
    }

    /// The tool asks its own server in words.
    #[test]
    fn the_tool_is_told_too() {
        assert_eq!(client(b"000chost:version"), Some("adb"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"CNXN\0\0\0\x01\0\0\x10\0\x07\0\0\0\x32\x02\0\0\xbc\xb1\xa7\xb0host::\0"),
            Some("adb")
        );
    }
}
