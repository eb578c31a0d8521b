//! Steam: discovery in the house, connections to its servers.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "steam",
    groups: &[Group::Games],
    ports: &[27036, 27017],
    rules: &[
        Rule::pattern(
            "steam-discovery",
            On::Udp,
            r"\xff\xff\xff\xff\x21\x4c\x5f\xa0",
        ),
        Rule::pattern(
            "steam-datagram",
            On::Udp,
            r"VS01[\x00-\xff]{2}[\x01-\x07]\x00",
        ),
        Rule::check("steam-stream", On::Tcp, &[Lead::at(2, b"\0\0VT01")], stream),
        Rule::pattern("steam-peer", On::Udp, r"\xff\xff\xff\xff\x73\x64\x70\x69"),
    ],
};

/// A length, then letters: the lead says it all.
fn stream(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.le16(0)? != 0)
}

#[cfg(test)]
mod tests {
    use crate::testing::{datagram, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"\xff\xff\xff\xff\x21\x4c\x5f\xa0\x16\x00\x00\x00\x08\x01"),
            Some("steam")
        );
        assert_eq!(
            server(b"\x20\x00\x00\x00VT01\x17\x05\x00\x00"),
            Some("steam")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"\xff\xff\xff\xff\x21\x4c\x5f\xa1\x16"),
            Some("steam")
        );
        assert_ne!(
            server(b"\x20\x00\x00\x00VT02\x17\x05\x00\x00"),
            Some("steam")
        );
    }
}
