//! StatsD: a name, a value, a kind.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "statsd",
    groups: &[Group::Management],
    ports: &[8125],
    rules: &[Rule::pattern(
        "statsd-metric",
        On::Udp,
        r"[A-Za-z_][A-Za-z0-9_.\-/]*:[+\-]?[0-9.]+\|(c|g|ms|h|s|d|m)(\||\n|$)",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(b"web.hits:1|c"), Some("statsd"));
        assert_eq!(datagram(b"web.time:320|ms|@0.1"), Some("statsd"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"web.hits:1|x"), Some("statsd"));
    }
}
