//! Mitsubishi's SLMP: a subheader, the own network, a processor, a station.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "slmp",
    groups: &[Group::Industrial],
    ports: &[5000, 5007],
    rules: &[
        Rule::pattern("slmp-3e", On::Tcp, r"[\x50\xd0]\x00\x00\xff\xff\x03\x00"),
        Rule::pattern(
            "slmp-4e",
            On::Tcp,
            r"[\x54\xd4]\x00[\x00-\xff]{2}\x00\x00\x00\xff\xff\x03\x00",
        ),
        Rule::pattern(
            "slmp-3e-udp",
            On::Udp,
            r"[\x50\xd0]\x00\x00\xff\xff\x03\x00",
        ),
        Rule::pattern(
            "slmp-4e-udp",
            On::Udp,
            r"[\x54\xd4]\x00[\x00-\xff]{2}\x00\x00\x00\xff\xff\x03\x00",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(&[0x50, 0, 0, 0xff, 0xff, 3, 0, 12, 0, 16, 0, 1, 4, 0, 0]),
            Some("slmp")
        );
        assert_eq!(
            datagram(&[0x54, 0, 1, 0, 0, 0, 0, 0xff, 0xff, 3, 0, 12, 0]),
            Some("slmp")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(&[0x50, 0, 0, 0xff, 0xfe, 3, 0, 12, 0, 16, 0, 1, 4, 0, 0]),
            Some("slmp")
        );
    }
}
