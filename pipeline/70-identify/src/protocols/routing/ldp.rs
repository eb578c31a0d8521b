//! LDP. RFC 5036 §3.1: version 1, a length, a router, messages inside.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ldp",
    groups: &[Group::Routing],
    ports: &[646],
    rules: &[
        Rule::check(
            "ldp-message",
            On::Udp,
            &[Lead::start(&[0, 1]).len_min(18)],
            check,
        ),
        Rule::check(
            "ldp-message-tcp",
            On::Tcp,
            &[Lead::start(&[0, 1]).len_min(18)],
            check,
        ),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = usize::from(look.be16(2)?).checked_add(4)?;
    let kind = look.be16(10)? & 0x7fff;
    let size = usize::from(look.be16(12)?);
    // RFC 5036 §3.7: notification, hello, initialization, keep-alive, addresses, labels.
    let is_kind = matches!(
        kind,
        1 | 0x100 | 0x200 | 0x201 | 0x300 | 0x301 | 0x400..=0x404
    );
    let is_sized = size >= 4 && size.checked_add(14)? <= len;
    let is_whole = !matches!(look.on, On::Udp) || len == look.len;
    Answer::when(
        is_kind && is_sized && is_whole && look.be32(4)? != 0 && look.be16(8)? == 0 && len < 4100,
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram};

    const HELLO: [u8; 30] = [
        0, 1, 0, 26, 10, 0, 0, 1, 0, 0, 1, 0, 0, 16, 0, 0, 0, 9, 4, 0, 0, 4, 0, 15, 0, 0, 4, 1, 0,
        4,
    ];

    /// The same with a kind of message that there is not.
    fn other() -> [u8; 30] {
        let mut bytes = HELLO;
        bytes[10] = 9;
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&HELLO), Some("ldp"));
        assert_eq!(client(&HELLO), Some("ldp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&HELLO[..29]), Some("ldp"));
        assert_ne!(client(&other()), Some("ldp"));
    }
}
