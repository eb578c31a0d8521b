//! Teeworlds and its kin: ten times 255 and a question, or an extended header.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "teeworlds",
    groups: &[Group::Games],
    ports: &[8303],
    rules: &[Rule::pattern(
        "teeworlds-query",
        On::Udp,
        r"(\xff{10}|xe.{4}\xff{4})(gie[23]|inf[23]|info|iext|fstd|siqr|req2|lis2)",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xffgie3\x00"),
            Some("teeworlds")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"\xff\xff\xff\xff\xff\xff\xff\xff\xffgie3\x00\x00"),
            Some("teeworlds")
        );
    }
}
