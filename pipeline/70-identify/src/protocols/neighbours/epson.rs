//! Epson's printers and scanners: five letters, a question or an answer.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "epson",
    groups: &[Group::Naming],
    ports: &[3289],
    rules: &[Rule::pattern(
        "epson-search",
        On::Udp,
        r"EPSON[PQpq][\x00-\xff]\x00",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(b"EPSONP\0\0\0\0\0\0\0\0\0\0"), Some("epson"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"EPSONS\0\0\0\0"), Some("epson"));
    }
}
