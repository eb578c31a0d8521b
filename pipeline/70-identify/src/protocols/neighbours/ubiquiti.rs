//! Ubiquiti's discovery: a version, a command, a length, elements that fill it.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ubiquiti",
    groups: &[Group::Naming],
    ports: &[10001],
    rules: &[Rule::check(
        "ubiquiti-elements",
        On::Udp,
        &[
            Lead::start(&[1, 0]).len_min(8),
            Lead::start(&[2, 6]).len_min(8),
            Lead::start(&[2, 8]).len_min(8),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    if look.len16_at(2)?.checked_add(4)? != look.len {
        return Some(Answer::No);
    }
    let mut cursor = look.cursor(4);
    while !cursor.is_end() {
        let kind = cursor.u8()?;
        let len = cursor.len16()?;
        if kind == 0 || kind > 64 || len > cursor.left() {
            return Some(Answer::No);
        }
        cursor.skip(len)?;
    }
    Some(Answer::Yes)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(&[1, 0, 0, 9, 1, 0, 6, 2, 0, 0, 1, 2, 3]),
            Some("ubiquiti")
        );
    }

    /// The elements fill the datagram.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(&[1, 0, 0, 9, 1, 0, 5, 2, 0, 0, 1, 2, 3]),
            Some("ubiquiti")
        );
    }
}
