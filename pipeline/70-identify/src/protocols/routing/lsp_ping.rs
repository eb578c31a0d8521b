//! Echo along labelled paths. RFC 8029 §3: version 1, a message, elements that fill it.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "lsp-ping",
    groups: &[Group::Routing],
    ports: &[3503],
    rules: &[Rule::check(
        "lsp-echo",
        On::Udp,
        &[Lead::start(&[0, 1, 0])
            .masked(3, 0xf8, 0)
            .masked(4, 0xf8, 0)
            .masked(5, 0xf8, 0)
            .len_min(36)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let [kind, mode] = look.array(4)?;
    let mut cursor = look.cursor(32);
    if !(1..=4).contains(&kind) || !(1..=5).contains(&mode) {
        return Some(Answer::No);
    }
    while !cursor.is_end() {
        let element = cursor.be16()?;
        // RFC 8029 §3: padded to four bytes.
        let len = cursor.len16()?.checked_next_multiple_of(4)?;
        if !matches!(element, 1..=30 | 0x8000..) || len > cursor.left() {
            return Some(Answer::No);
        }
        cursor.skip(len)?;
    }
    Some(Answer::Yes)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn echo(len: u8) -> Vec<u8> {
        let mut bytes = vec![0, 1, 0, 0, 1, 2, 0, 0];
        bytes.resize(32, 7);
        bytes.extend([0, 3, 0, len, 1, 2, 3, 4]);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&echo(4)), Some("lsp-ping"));
    }

    /// The elements fill the message.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&echo(5)), Some("lsp-ping"));
    }
}
