//! Niagara Fox: its first line.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "fox",
    groups: &[Group::Industrial],
    ports: &[1911, 4911],
    rules: &[Rule::pattern(
        "fox-hello",
        On::Tcp,
        r"fox a [0-9]+ -1 fox hello\n",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"fox a 1 -1 fox hello\n{\nfox.version=s:1.0\n"),
            Some("fox")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"fox a 1 -1 fax hello\n"), Some("fox"));
    }
}
