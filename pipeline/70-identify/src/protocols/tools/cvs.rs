//! CVS's password server: the request and what it loves.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "cvs",
    groups: &[Group::Files],
    ports: &[2401],
    rules: &[
        Rule::pattern(
            "cvs-request",
            On::Tcp,
            r"BEGIN (AUTH|VERIFICATION|GSSAPI) REQUEST\n",
        ),
        Rule::pattern("cvs-answer", On::Tcp, r"I (LOVE|HATE) YOU\n"),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"BEGIN AUTH REQUEST\n/cvs\n"), Some("cvs"));
        assert_eq!(server(b"I LOVE YOU\n"), Some("cvs"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"BEGIN AUTH QUEST\n/cvs\n"), Some("cvs"));
    }
}
