//! XDMCP. Its protocol, §4: version 1, an operation, a length that fits.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "xdmcp",
    groups: &[Group::Remote],
    ports: &[177],
    rules: &[Rule::check(
        "xdmcp-packet",
        On::Udp,
        &[Lead::start(&[0, 1, 0]).masked(3, 0xf0, 0).len_min(6)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let is_known = (1..=13).contains(&look.be16(2)?) && look.len > 8;
    Answer::when(is_known && look.len16_at(4)?.checked_add(6)? == look.len)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&[0, 1, 0, 2, 0, 3, 1, 0, 0]), Some("xdmcp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&[0, 1, 0, 2, 0, 2, 1, 0, 0]), Some("xdmcp"));
    }
}
