//! TeamSpeak 3: the mark of the first packet; the older one's magic words.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "teamspeak",
    groups: &[Group::Chat, Group::Media, Group::Games],
    ports: &[9987, 8767],
    rules: &[
        Rule::pattern("teamspeak-init", On::Udp, r"TS3INIT1"),
        Rule::pattern("teamspeak-2", On::Udp, r"\xf4\xbe\x03\x00\x00\x00\x00\x00"),
        Rule::pattern("teamspeak-query", On::Tcp, r"(TS3|TeaSpeak)\n\r"),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::{datagram, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"TS3INIT1\x00\x65\x00\x00\x88\x0d\xd0\x57\x66\x00"),
            Some("teamspeak")
        );
        assert_eq!(
            server(b"TS3\n\rWelcome to the TeamSpeak 3 ServerQuery interface"),
            Some("teamspeak")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"TS3INIT2\x00\x65\x00\x00\x88"), Some("teamspeak"));
    }
}
