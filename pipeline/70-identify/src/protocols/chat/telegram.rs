//! Telegram's calls: a tag, then twelve bytes of ones and a type at a relay.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "telegram",
    groups: &[Group::Chat, Group::Media],
    ports: &[],
    rules: &[Rule::check(
        "telegram-relay",
        On::Udp,
        &[Lead::ANY.len_min(32).far(16, 0xff, 0xff)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(
        look.be64(16)? == u64::MAX && look.be32(24)? == u32::MAX && look.be32(28)? >> 24 >= 0xfe,
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn relayed() -> Vec<u8> {
        let mut bytes = vec![0x51; 16];
        bytes.extend([0xff; 12]);
        bytes.extend([0xff, 0xff, 0xff, 0xfe, 1, 2, 3, 4]);
        bytes
    }

    #[test]
    fn ones_behind_a_tag_tell() {
        assert_eq!(datagram(&relayed()), Some("telegram"));
    }

    #[test]
    fn a_near_miss_does_not() {
        let mut bytes = relayed();
        bytes[20] = 0xfe;
        assert_eq!(datagram(&bytes), None);
    }
}
