//! Amanda: a version, one of four packets, a handle.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "amanda",
    groups: &[Group::Management, Group::Files],
    ports: &[10080],
    rules: &[Rule::pattern(
        "amanda-packet",
        On::Udp,
        r"Amanda [0-9]\.[0-9]{1,2} (REQ|REP|ACK|NAK|PREP) HANDLE ",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"Amanda 2.6 REQ HANDLE 000-00000000 SEQ 1\n"),
            Some("amanda")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"Amanda 2.6 ASK HANDLE 000-00000000 SEQ 1\n"),
            Some("amanda")
        );
    }
}
