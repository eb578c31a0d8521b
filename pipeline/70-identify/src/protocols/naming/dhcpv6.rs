//! Addresses for hosts of IPv6. RFC 8415 §8: a type, a transaction, options that fill the rest.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dhcpv6",
    groups: &[Group::Naming],
    ports: &[546, 547],
    rules: &[Rule::check(
        "dhcpv6-options",
        On::Udp,
        &[Lead::masked(Lead::ANY, 0, 0xf0, 0).len_min(8)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let kind = look.u8(0)?;
    let mut cursor = look.cursor(match kind {
        // RFC 8415 §9: relays put two addresses there.
        12 | 13 => 34,
        1..=11 => 4,
        _ => return Some(Answer::No),
    });
    let mut count = 0u8;
    while cursor.left() > 0 && count < 64 {
        let option = cursor.be16()?;
        let len = cursor.len16()?;
        if option == 0 || option > 143 || len > cursor.left() {
            return Some(Answer::No);
        }
        cursor.skip(len)?;
        count = count.saturating_add(1);
    }
    Answer::when(count >= 3 || (count > 0 && look.on_port(&[546, 547])))
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    const SOLICIT: [u8; 22] = [
        1, 9, 9, 9, 0, 1, 0, 2, 0, 3, 0, 6, 0, 2, 0, 23, 0, 8, 0, 2, 0, 0,
    ];

    #[test]
    fn options_that_fill_it_tell() {
        assert_eq!(datagram(&SOLICIT), Some("dhcpv6"));
    }

    #[test]
    fn a_near_miss_does_not() {
        let mut bytes = SOLICIT;
        bytes[19] = 3;
        assert_eq!(datagram(&bytes), None);
    }
}
