//! WCCP. Its draft, §5: one of four messages, a version, a length that fits.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "wccp",
    groups: &[Group::Routing, Group::Web],
    ports: &[2048],
    rules: &[Rule::check(
        "wccp-message",
        On::Udp,
        &[Lead::start(&[0, 0, 0]).masked(3, 0xf8, 8).len_min(8)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let is_kind = (10..=13).contains(&look.be32(0)?);
    let is_version = matches!(look.be16(4)?, 0x0200 | 0x0201);
    Answer::when(is_kind && is_version && look.len16_at(6)?.checked_add(8)? == look.len)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(&[0, 0, 0, 10, 2, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0, 0]),
            Some("wccp")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(&[0, 0, 0, 10, 2, 0, 0, 9, 0, 0, 0, 4, 0, 0, 0, 0]),
            Some("wccp")
        );
    }
}
