//! MPLS in UDP. RFC 7510 §3: labels, the last of which is marked, then IP.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mpls-udp",
    groups: &[Group::Tunnel],
    ports: &[6635],
    rules: &[Rule::check(
        "mpls-udp-labels",
        On::Udp,
        &[Lead::ANY.len_min(24).on_ports(&[6635])],
        check,
    )
    .ranked(150)],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(0);
    for _ in 0..4 {
        // RFC 3032 §2.1: a bit marks the last.
        if cursor.be32()? & 0x100 != 0 {
            let packet = look.within(cursor.at());
            let len = packet.len16_at(2)?;
            return Answer::when(packet.u8(0)? >> 4 == 4 && len == packet.len);
        }
    }
    Some(Answer::No)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagrams;

    /// A label, then a packet that says it is so long.
    fn packet(len: u8) -> Vec<u8> {
        let mut bytes = vec![0, 1, 0x51, 0x3f, 0x45, 0, 0, len];
        bytes.resize(24, 1);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagrams(&[(true, &packet(20))], (50_000, 6635)),
            Some("mpls-udp")
        );
    }

    /// The packet inside is as long as it says.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagrams(&[(true, &packet(21))], (50_000, 6635)),
            Some("mpls-udp")
        );
        assert_ne!(
            datagrams(&[(true, &packet(20))], (50_000, 6636)),
            Some("mpls-udp")
        );
    }
}
