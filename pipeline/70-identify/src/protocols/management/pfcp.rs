//! PFCP. TS 29.244 §7.2: version 1, a length that fits, elements that fill it.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "pfcp",
    groups: &[Group::Tunnel, Group::Management],
    ports: &[8805],
    rules: &[Rule::check(
        "pfcp-elements",
        On::Udp,
        &[Lead::ANY.masked(0, 0xf8, 0x20).len_min(12)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let [flags, kind] = look.array(0)?;
    let is_kind = matches!(kind, 1..=16 | 50..=57);
    if !is_kind || look.len16_at(2)?.checked_add(4)? != look.len {
        return Some(Answer::No);
    }
    // With a session's identifier (kinds 50 and on) or without.
    if (kind >= 50) != (flags & 1 != 0) {
        return Some(Answer::No);
    }
    let mut cursor = look.cursor(if flags & 1 == 0 { 8 } else { 16 });
    while !cursor.is_end() {
        let element = cursor.be16()?;
        let len = cursor.len16()?;
        if element == 0 || (element > 400 && element < 0x8000) || len > cursor.left() {
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
            datagram(&[0x20, 1, 0, 12, 0, 0, 1, 0, 0, 96, 0, 4, 0xe5, 1, 2, 3]),
            Some("pfcp")
        );
    }

    /// The elements end where the message does.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(&[0x20, 1, 0, 12, 0, 0, 1, 0, 0, 96, 0, 5, 0xe5, 1, 2, 3]),
            Some("pfcp")
        );
    }
}
