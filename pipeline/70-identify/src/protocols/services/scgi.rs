//! SCGI: a counted string, whose first name is the length of the content.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "scgi",
    groups: &[Group::Web],
    ports: &[4000],
    rules: &[Rule::pattern(
        "scgi-header",
        On::Tcp,
        r"[0-9]{2,6}:CONTENT_LENGTH\x00[0-9]{1,12}\x00",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"70:CONTENT_LENGTH\x0027\0SCGI\x001\0"),
            Some("scgi")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"70:CONTENT_LENGTH=27\0SCGI\x001\0"), Some("scgi"));
    }
}
