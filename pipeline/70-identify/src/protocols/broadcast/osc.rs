//! Open Sound Control: an address, types behind a comma; or a bundle.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "osc",
    groups: &[Group::Media],
    ports: &[],
    rules: &[
        Rule::pattern(
            "osc-message",
            On::Udp,
            r"/[!-~]+\x00{1,4},[a-zA-Z\[\]]*\x00",
        ),
        Rule::pattern("osc-bundle", On::Udp, r"#bundle\x00"),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"/synth/1/freq\0\0\0,f\0\0\x43\xdc\0\0"),
            Some("osc")
        );
        assert_eq!(datagram(b"#bundle\0\0\0\0\0\0\0\0\x01"), Some("osc"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"/synth/1/freq\0\0\0;f\0\0\x43\xdc\0\0"),
            Some("osc")
        );
    }
}
