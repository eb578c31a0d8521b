//! STOMP. Its specification 1.2: a command, headers, on lines of their own.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "stomp",
    groups: &[Group::Messaging],
    ports: &[61613],
    rules: &[
        Rule::pattern(
            "stomp-connect",
            On::Tcp,
            r"(CONNECT|STOMP)\r?\n(accept-version|host|login|passcode|heart-beat|client-id):",
        ),
        Rule::pattern(
            "stomp-connected",
            On::Tcp,
            r"CONNECTED\r?\n(version|session|server|heart-beat|user-name):",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"CONNECT\naccept-version:1.2\nhost:a\n\n\0"),
            Some("stomp")
        );
        assert_eq!(server(b"CONNECTED\nversion:1.2\n\n\0"), Some("stomp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"CONNECT\nfoo:1.2\n\n\0"), Some("stomp"));
    }
}
