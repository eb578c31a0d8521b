//! ManageSieve. RFC 5804 §1.7: the server lists what it can.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "managesieve",
    groups: &[Group::Mail],
    ports: &[4190],
    rules: &[Rule::pattern(
        "sieve-capability",
        On::Tcp,
        r#""(IMPLEMENTATION|SIEVE|SASL|VERSION)" "[ -~]*"\r\n"#,
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::server;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            server(b"\"IMPLEMENTATION\" \"a v1\"\r\n\"SIEVE\" \"fileinto\"\r\n"),
            Some("managesieve")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            server(b"\"IMPLEMENTATION\": \"a v1\"\r\n"),
            Some("managesieve")
        );
    }
}
