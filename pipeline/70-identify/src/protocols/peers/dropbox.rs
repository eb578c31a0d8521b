//! Dropbox tells its neighbours where it is, in JSON.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dropbox",
    groups: &[Group::Files, Group::Peers],
    ports: &[17500],
    rules: &[
        Rule::pattern(
            "dropbox-discovery",
            On::Udp,
            r#"\{"version": \[[0-9], [0-9]\], "port": [0-9]{1,5}, "host"#,
        ),
        Rule::pattern(
            "dropbox-discovery-1",
            On::Udp,
            r#"\{"host_int": [0-9]+, "version": \["#,
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"{\"version\": [2, 0], \"port\": 17500, \"host_int\": 1}"),
            Some("dropbox")
        );
        assert_eq!(
            datagram(b"{\"host_int\": 413767116, \"version\": [1, 8]}"),
            Some("dropbox")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"{\"version\": \"2.0\", \"port\": 17500}"),
            Some("dropbox")
        );
    }
}
