//! Icecast and SHOUTcast: an answer of their own, a source that sends.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "icecast",
    groups: &[Group::Media],
    ports: &[8000],
    rules: &[
        Rule::pattern("icy-answer", On::Tcp, r"ICY [0-9]{3} "),
        Rule::pattern(
            "icecast-source",
            On::Tcp,
            r"SOURCE /?[!-~]* (ICE|HTTP)/1\.[01]\r\n",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(server(b"ICY 200 OK\r\nicy-name: a\r\n"), Some("icecast"));
        assert_eq!(client(b"SOURCE /live ICE/1.0\r\n"), Some("icecast"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(server(b"ICY cold\r\n"), Some("icecast"));
    }
}
