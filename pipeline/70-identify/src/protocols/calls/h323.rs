//! H.323's calls. H.225.0: Q.931 in TPKT, a reference of two bytes, a message.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "h323",
    groups: &[Group::Media],
    ports: &[1720],
    rules: &[Rule::check(
        "h225-message",
        On::Tcp,
        &[Lead::start(&[3, 0]).and(4, &[8, 2]).len_min(10)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let [message, element] = look.array(8)?;
    // Q.931 §4.4: set up, proceed, alert, connect, release, status, facility.
    let is_message = matches!(
        message,
        1 | 2 | 3 | 5 | 7 | 0x0f | 0x5a | 0x62 | 0x6e | 0x7b | 0x7d
    );
    let is_element = matches!(
        element,
        4 | 8 | 0x1c | 0x1e | 0x28 | 0x34 | 0x6c | 0x70 | 0x7e
    );
    Answer::when(is_message && is_element && look.be16(2)? > 9)
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(&[3, 0, 0, 0x40, 8, 2, 0, 1, 5, 4, 3, 0x88, 0x90, 0xa5]),
            Some("h323")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(&[3, 0, 0, 0x40, 8, 2, 0, 1, 6, 4, 3, 0x88, 0x90, 0xa5]),
            Some("h323")
        );
    }
}
