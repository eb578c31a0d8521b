//! distcc: a version and a count, in hexadecimal.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "distcc",
    groups: &[Group::Management],
    ports: &[3632],
    rules: &[
        Rule::pattern(
            "distcc-request",
            On::Tcp,
            r"DIST0000000[1-3]ARGC[0-9a-f]{8}",
        ),
        Rule::pattern("distcc-reply", On::Tcp, r"DONE0000000[1-3]STAT[0-9a-f]{8}"),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"DIST00000001ARGC00000005ARGV"), Some("distcc"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"DIST00000009ARGC00000005ARGV"), Some("distcc"));
    }
}
