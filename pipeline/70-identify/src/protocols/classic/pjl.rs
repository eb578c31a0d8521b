//! Printers fed directly: the universal exit, a job in PJL or PostScript.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "pjl",
    groups: &[Group::Files],
    ports: &[9100],
    rules: &[
        Rule::pattern("pjl-job", On::Tcp, r"\x1b%-12345X(@PJL|%!PS|\x1b%-12345X)"),
        Rule::pattern("pjl-line", On::Tcp, r"@PJL [A-Z]{2,12}( |\r?\n)"),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"\x1b%-12345X@PJL JOB\n"), Some("pjl"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"\x1b%-12346X@PJL JOB\n"), Some("pjl"));
    }
}
