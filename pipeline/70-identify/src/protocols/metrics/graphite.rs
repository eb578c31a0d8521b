//! Graphite: a path, a number, a time of ten digits, on each line.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "graphite",
    groups: &[Group::Management],
    ports: &[2003],
    rules: &[
        Rule::pattern(
            "graphite-line",
            On::Tcp,
            r"[A-Za-z][A-Za-z0-9_\-]*\.[!-~]+ [0-9.eE+\-]+ 1[0-9]{9}\n",
        ),
        Rule::pattern(
            "graphite-datagram",
            On::Udp,
            r"[A-Za-z][A-Za-z0-9_\-]*\.[!-~]+ [0-9.eE+\-]+ 1[0-9]{9}(\n|$)",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"servers.a.load 0.42 1700000000\n"),
            Some("graphite")
        );
        assert_eq!(
            datagram(b"servers.a.load 0.42 1700000000"),
            Some("graphite")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"servers.a.load 0.42 2700000000\n"),
            Some("graphite")
        );
    }
}
