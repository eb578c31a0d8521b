//! MIDI over RTP: invitations to a session, and clocks.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "rtp-midi",
    groups: &[Group::Media],
    ports: &[5004],
    rules: &[
        Rule::pattern(
            "rtp-midi-session",
            On::Udp,
            r"\xff\xff(IN|OK|NO|BY)\x00\x00\x00\x02",
        ),
        Rule::pattern(
            "rtp-midi-clock",
            On::Udp,
            r"\xff\xffCK.{4}[\x00-\x02]\x00\x00\x00",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"\xff\xffIN\0\0\0\x02\x12\x34\x56\x78\0\0\0\x01a\0"),
            Some("rtp-midi")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"\xff\xffIN\0\0\0\x03\x12\x34\x56\x78\0\0\0\x01a\0"),
            Some("rtp-midi")
        );
    }
}
