//! LMTP. RFC 2033 §4.1: LHLO where SMTP says EHLO.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "lmtp",
    groups: &[Group::Mail],
    ports: &[24],
    rules: &[Rule::pattern("lmtp-hello", On::Tcp, r"LHLO [!-~]+\r\n")],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"LHLO a.example\r\n"), Some("lmtp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"LHLO\r\n"), Some("lmtp"));
    }
}
