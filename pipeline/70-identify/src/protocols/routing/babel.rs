//! Babel. RFC 8966 §4.2: 42, version 2, a length, elements that fill it.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "babel",
    groups: &[Group::Routing],
    ports: &[6696],
    rules: &[Rule::check(
        "babel-elements",
        On::Udp,
        &[Lead::start(&[42, 2]).len_min(6)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = usize::from(look.be16(2)?);
    let end = len.checked_add(4)?;
    if end > look.len || len < 2 {
        return Some(Answer::No);
    }
    let mut cursor = look.cursor(4);
    while cursor.at() < end {
        // RFC 8966 §4.3: one byte of padding has no length.
        let kind = cursor.u8()?;
        if kind == 0 {
            continue;
        }
        let size = cursor.len8()?;
        if kind > 64 {
            return Some(Answer::No);
        }
        cursor.skip(size)?;
    }
    Answer::when(cursor.at() == end)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(&[42, 2, 0, 8, 4, 6, 0, 0, 0, 1, 1, 0x90]),
            Some("babel")
        );
    }

    /// The elements end where the body does.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(&[42, 2, 0, 8, 4, 7, 0, 0, 0, 1, 1, 0x90]),
            Some("babel")
        );
    }
}
