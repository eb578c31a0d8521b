//! USB over IP: a version, one of four commands, no error.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "usbip",
    groups: &[Group::Management],
    ports: &[3240],
    rules: &[
        Rule::pattern(
            "usbip-request",
            On::Tcp,
            r"\x01[\x06\x11]\x80[\x03\x05]\x00{4}",
        ),
        Rule::pattern(
            "usbip-reply",
            On::Tcp,
            r"\x01[\x06\x11]\x00[\x03\x05]\x00{4}(\x00\x00[\x00-\xff]|/sys/)",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"\x01\x11\x80\x05\0\0\0\0"), Some("usbip"));
        assert_eq!(
            server(b"\x01\x11\x00\x03\0\0\0\0/sys/devices"),
            Some("usbip")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"\x01\x12\x80\x05\0\0\0\0"), Some("usbip"));
    }
}
