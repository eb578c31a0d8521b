//! Mumble: a ping outside of connections, and its answer that repeats the identifier.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mumble",
    groups: &[Group::Chat, Group::Media, Group::Games],
    ports: &[64738],
    rules: &[
        Rule::check(
            "mumble-ping",
            On::Udp,
            &[Lead::start(&[0, 0, 0, 0]).len_min(12)],
            ping,
        ),
        Rule::check(
            "mumble-pong",
            On::Udp,
            &[Lead::start(&[0, 1]).masked(2, 0xf8, 0).len_min(24)],
            pong,
        ),
    ],
};

fn ping(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.len == 12 && look.on_port(PROTOCOL.ports) && look.be64(4)? != 0)
}

/// Version, the ping's identifier, users, the most of them, bandwidth.
fn pong(look: &Look<'_>) -> Option<Answer> {
    let is_answer =
        look.reply.get(4..12) == look.bytes.get(4..12) && look.reply.starts_with(&[0; 4]);
    let (users, most) = (look.be32(12)?, look.be32(16)?);
    let is_one = look.len == 24 && users <= most && most <= 1 << 16;
    Answer::when(is_one && (is_answer || look.on_port(PROTOCOL.ports)))
}

#[cfg(test)]
mod tests {
    use crate::testing::datagrams;

    const PING: &[u8] = &[0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    const PONG: &[u8] = &[
        0, 1, 4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 3, 0, 0, 0, 100, 0, 1, 0x19, 0x40,
    ];

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagrams(&[(true, PING), (false, PONG)], (50_000, 50_001)),
            Some("mumble")
        );
        assert_eq!(datagrams(&[(true, PING)], (50_000, 64_738)), Some("mumble"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagrams(&[(true, PING)], (50_000, 50_001)), Some("mumble"));
        assert_ne!(
            datagrams(&[(true, &PING[..11]), (false, PONG)], (50_000, 50_001)),
            Some("mumble")
        );
    }
}
