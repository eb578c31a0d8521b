//! MikroTik's discovery: a number, elements that begin with the address.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mndp",
    groups: &[Group::Naming],
    ports: &[5678],
    rules: &[Rule::check(
        "mndp-elements",
        On::Udp,
        &[Lead::start(&[0, 0]).and(4, &[0, 1, 0, 6]).len_min(14)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(4);
    while !cursor.is_end() {
        let kind = cursor.be16()?;
        let len = cursor.len16()?;
        if !(1..=20).contains(&kind) || len > cursor.left() {
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
            datagram(&[0, 0, 0, 7, 0, 1, 0, 6, 2, 0, 0, 1, 2, 3, 0, 5, 0, 1, 97]),
            Some("mndp")
        );
    }

    /// The elements fill the datagram.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(&[0, 0, 0, 7, 0, 1, 0, 6, 2, 0, 0, 1, 2, 3, 0, 5, 0, 2, 97]),
            Some("mndp")
        );
    }
}
