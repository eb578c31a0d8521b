//! Servers of games on the Quake engines: words behind four times 255.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "quake",
    groups: &[Group::Games],
    ports: &[27960, 27500],
    rules: &[
        Rule::pattern(
            "quake-question",
            On::Udp,
            r"\xff\xff\xff\xffget(info|status|challenge|servers)([ \n\x00]|Ext |$)",
        ),
        Rule::pattern(
            "quake-answer",
            On::Udp,
            r"\xff\xff\xff\xff((info|status|challenge|getservers|connect)Response|print\n)",
        ),
        Rule::pattern(
            "quake-1",
            On::Udp,
            r"\x80\x00\x00[\x0c-\x20]\x01QUAKE\x00\x03",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(b"\xff\xff\xff\xffgetstatus\n"), Some("quake"));
        assert_eq!(
            datagram(b"\xff\xff\xff\xffstatusResponse\n\\sv_hostname\\x"),
            Some("quake")
        );
        assert_eq!(
            datagram(b"\x80\x00\x00\x0c\x01QUAKE\x00\x03"),
            Some("quake")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"\xff\xff\xff\xffgetstate\n"), Some("quake"));
    }
}
