//! LIFX's lamps: a size, protocol 1024, a kind of message.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "lifx",
    groups: &[Group::Things],
    ports: &[56700],
    rules: &[Rule::check(
        "lifx-header",
        On::Udp,
        &[Lead::ANY
            .masked(2, 0xff, 0)
            .masked(3, 0xdf, 0x14)
            .len_min(36)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let is_sized = usize::from(look.le16(0)?) == look.len;
    let kind = look.le16(32)?;
    let is_kind = matches!(kind, 2..=80 | 101..=150 | 401..=520 | 701..=721 | 816..=818);
    Answer::when(is_sized && is_kind && look.be16(34)? == 0)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn message(len: u8) -> Vec<u8> {
        let mut bytes = vec![len, 0, 0, 0x34];
        bytes.resize(32, 0);
        bytes.extend([2, 0, 0, 0]);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&message(36)), Some("lifx"));
    }

    /// The size is that of the datagram.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&message(37)), Some("lifx"));
    }
}
