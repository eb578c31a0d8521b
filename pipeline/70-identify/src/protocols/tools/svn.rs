//! Subversion's own protocol: lists in parentheses.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "svn",
    groups: &[Group::Files],
    ports: &[3690],
    rules: &[
        Rule::pattern("svn-greeting", On::Tcp, r"\( success \( [0-9] [0-9] \( "),
        Rule::pattern(
            "svn-client",
            On::Tcp,
            r"\( [0-9] \( [a-z0-9 \-]+ \) [0-9]{1,4}:svn",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            server(b"( success ( 2 2 ( ) ( edit-pipeline svndiff1 ) ) ) "),
            Some("svn")
        );
        assert_eq!(
            client(b"( 2 ( edit-pipeline svndiff1 ) 13:svn://a.b/c/d "),
            Some("svn")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(server(b"( failure ( 2 2 ( ) ) ) "), Some("svn"));
    }
}
