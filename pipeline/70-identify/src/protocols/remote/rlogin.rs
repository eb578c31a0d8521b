//! rlogin. RFC 1282: zero, two users, a terminal and its speed.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "rlogin",
    groups: &[Group::Remote],
    ports: &[513],
    rules: &[Rule::pattern(
        "rlogin-hello",
        On::Tcp,
        r"\x00[!-~]+\x00[!-~]+\x00[A-Za-z0-9\-]+/[0-9]{2,7}\x00",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"\0me\0you\0xterm/38400\0"), Some("rlogin"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"\0me\0you\0xterm:38400\0"), Some("rlogin"));
    }
}
