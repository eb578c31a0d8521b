//! Finger. RFC 1288: what servers tell of a user.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "finger",
    groups: &[Group::Naming],
    ports: &[79],
    rules: &[Rule::pattern(
        "finger-answer",
        On::Tcp,
        r"(\r?\n)?Login( name)?: [!-~]+[ \t]+(Name|In real life): ",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::server;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            server(b"Login: me             \t\tName: Me\r\n"),
            Some("finger")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            server(b"Login: me             \t\tPassword: "),
            Some("finger")
        );
    }
}
