//! DDS on the wire. RTPS 2.5 §8.3.3: four letters, version 2, a vendor, a submessage.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "rtps",
    groups: &[Group::Messaging, Group::Things],
    ports: &[7400],
    rules: &[Rule::pattern(
        "rtps-header",
        On::Udp,
        r"RTP[SX]\x02[\x00-\x05]",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"RTPS\x02\x03\x01\x0f0123456789ab\x09\x01\x08\0"),
            Some("rtps")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"RTPS\x03\x03\x01\x0f0123456789ab"), Some("rtps"));
    }
}
