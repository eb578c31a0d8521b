//! Dictionaries. RFC 2229 §3: a client names itself and defines a word.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dict",
    groups: &[Group::Web],
    ports: &[2628],
    rules: &[
        Rule::pattern(
            "dict-client",
            On::Tcp,
            r"CLIENT [^\r\n]+\r\n(SHOW|DEFINE|MATCH|AUTH|STATUS|OPTION)",
        ),
        Rule::pattern(
            "dict-define",
            On::Tcp,
            r"DEFINE ([!*]|[a-z0-9\-]+) [^\r\n]+\r\n",
        ),
        Rule::pattern(
            "dict-show",
            On::Tcp,
            r"SHOW (DB|DATABASES|STRAT|STRATEGIES|SERVER)\r\n",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"CLIENT a 1.0\r\nSHOW DB\r\n"), Some("dict"));
        assert_eq!(client(b"DEFINE wn \"word\"\r\n"), Some("dict"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"DEFINE WORD\r\n"), Some("dict"));
    }
}
