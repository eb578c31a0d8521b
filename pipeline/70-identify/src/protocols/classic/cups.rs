//! CUPS tells of its printers: a kind, a state, a place.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "cups",
    groups: &[Group::Naming],
    ports: &[631],
    rules: &[Rule::pattern(
        "cups-browse",
        On::Udp,
        r"[0-9a-f]{1,8} [345] (ipp|http)s?://",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"6 3 ipp://a.example:631/printers/p \"\" \"\"\n"),
            Some("cups")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"6 9 ipp://a.example:631/printers/p\n"),
            Some("cups")
        );
    }
}
