//! gpsd: objects of JSON by class, and the request to watch.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "gpsd",
    groups: &[Group::Things],
    ports: &[2947],
    rules: &[
        Rule::pattern(
            "gpsd-object",
            On::Tcp,
            r#"\{"class":"(VERSION|DEVICES|DEVICE|TPV|SKY|WATCH)""#,
        ),
        Rule::pattern("gpsd-watch", On::Tcp, r#"\?WATCH=\{""#),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            server(b"{\"class\":\"VERSION\",\"release\":\"3.25\"}\r\n"),
            Some("gpsd")
        );
        assert_eq!(client(b"?WATCH={\"enable\":true}"), Some("gpsd"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(server(b"{\"class\":\"VERSIONS\"}\r\n"), Some("gpsd"));
    }
}
