//! SPICE: four letters, a version, a size.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "spice",
    groups: &[Group::Remote],
    ports: &[5900],
    rules: &[Rule::pattern(
        "spice-link",
        On::Tcp,
        r"REDQ[\x01\x02]\x00\x00\x00[\x00-\x0f]\x00\x00\x00",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"REDQ\x02\0\0\0\x02\0\0\0\x1a\0\0\0"), Some("spice"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"REDQ\x02\x01\0\0\x02\0\0\0"), Some("spice"));
    }
}
