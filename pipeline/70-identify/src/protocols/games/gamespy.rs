//! GameSpy's queries, in the three forms that servers answer.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "gamespy",
    groups: &[Group::Games],
    ports: &[],
    rules: &[
        Rule::pattern(
            "gamespy-1",
            On::Udp,
            r"\\(status|info|basic|rules|players|packets|echo|secure)\\",
        ),
        Rule::pattern("gamespy-2", On::Udp, r"\xfe\xfd[\x00\x09][\x00-\xff]{4}$"),
        Rule::pattern(
            "gamespy-3",
            On::Udp,
            r"\xfe\xfd\x00[\x00-\xff]{8}\xff\xff\xff[\x01\xff]$",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(b"\\status\\"), Some("gamespy"));
        assert_eq!(datagram(b"\xfe\xfd\x09\x01\x02\x03\x04"), Some("gamespy"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"\\state\\"), Some("gamespy"));
        assert_ne!(datagram(b"\xfe\xfd\x08\x01\x02\x03\x04"), Some("gamespy"));
    }
}
