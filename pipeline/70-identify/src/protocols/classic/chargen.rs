//! The generator of characters. RFC 864: the printable ones, in order.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "chargen",
    groups: &[Group::Management],
    ports: &[19],
    rules: &[
        Rule::pattern(
            "chargen-line",
            On::Tcp,
            r#" !\x22\x23\$%&'\(\)\*\+,-\./0123456789:;<=>\?@ABCDEFGH"#,
        ),
        Rule::pattern(
            "chargen-datagram",
            On::Udp,
            r#" !\x22\x23\$%&'\(\)\*\+,-\./0123456789:;<=>\?@ABCDEFGH"#,
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::server;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            server(b" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJ"),
            Some("chargen")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            server(b" !\"#$%&'()*+,-./0123456788:;<=>?@ABCDEFGHIJ"),
            Some("chargen")
        );
    }
}
