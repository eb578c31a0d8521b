//! Servers of games on the Source engine: queries, challenges, answers.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "source-engine",
    groups: &[Group::Games],
    ports: &[27015],
    rules: &[
        Rule::pattern(
            "source-query",
            On::Udp,
            r"\xff\xff\xff\xff(TSource Engine Query\x00|[ij]$)",
        ),
        Rule::pattern(
            "source-question",
            On::Udp,
            r"\xff\xff\xff\xff([UVW](\xff\xff\xff\xff|....)|A....)$",
        ),
        Rule::pattern(
            "source-answer",
            On::Udp,
            r"\xff\xff\xff\xffI[\x02-\x40][ -~\x80-\xff]+\x00",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"\xff\xff\xff\xffTSource Engine Query\x00"),
            Some("source-engine")
        );
        assert_eq!(
            datagram(b"\xff\xff\xff\xffA\x01\x02\x03\x04"),
            Some("source-engine")
        );
        assert_eq!(
            datagram(b"\xff\xff\xff\xffU\xff\xff\xff\xff"),
            Some("source-engine")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"\xff\xff\xff\xffTSource Engines Query\x00"),
            Some("source-engine")
        );
        assert_ne!(
            datagram(b"\xff\xff\xff\xffA\x01\x02\x03\x04\x05"),
            Some("source-engine")
        );
    }
}
