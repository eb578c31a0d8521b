//! Java's remote calls: four letters, a version, a way of calling.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "java-rmi",
    groups: &[Group::Messaging],
    ports: &[1099],
    rules: &[Rule::pattern(
        "jrmi-hello",
        On::Tcp,
        r"JRMI\x00[\x01\x02][KLM]",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"JRMI\0\x02K"), Some("java-rmi"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"JRMI\0\x02N"), Some("java-rmi"));
    }
}
