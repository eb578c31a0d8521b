//! Line printers. RFC 1179 §5, §6: a job for a queue, then a file with its size and name.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "lpd",
    groups: &[Group::Files],
    ports: &[515],
    rules: &[Rule::pattern(
        "lpd-job",
        On::Tcp,
        r"\x02[!-~]+\n[\x02\x03][0-9]{1,10} [cd]fA[0-9]{3}",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"\x02lp\n\x0258 cfA001host\n"), Some("lpd"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"\x02lp\n\x0258 xfA001host\n"), Some("lpd"));
    }
}
