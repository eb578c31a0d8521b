//! Splunk's forwarders: the mode that they announce.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "splunk",
    groups: &[Group::Management],
    ports: &[9997],
    rules: &[Rule::pattern(
        "splunk-mode",
        On::Tcp,
        r"--splunk-cooked-mode(-v[23])?--",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"--splunk-cooked-mode-v3--\0\0"), Some("splunk"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"--splunk-raw-mode-v3--\0\0"), Some("splunk"));
    }
}
