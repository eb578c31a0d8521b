//! ZooKeeper: the session's request and answer, whose fields agree in length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "zookeeper",
    groups: &[Group::Messaging, Group::Database],
    ports: &[2181],
    rules: &[
        Rule::check(
            "zookeeper-connect",
            On::Tcp,
            &[Lead::start(&[0, 0, 0])
                .masked(3, 0xfc, 0x2c)
                .and(4, &[0, 0, 0, 0])
                .len_min(32)],
            connect,
        ),
        Rule::check(
            "zookeeper-accept",
            On::Tcp,
            &[Lead::start(&[0, 0, 0])
                .masked(3, 0xfc, 0x24)
                .and(4, &[0, 0, 0, 0])
                .len_min(24)],
            accept,
        ),
    ],
};

/// Version, the last change seen, a time-out in milliseconds, session, a password of 16 bytes.
fn connect(look: &Look<'_>) -> Option<Answer> {
    let is_timed = (1..10_000_000).contains(&look.be32(16)?);
    Answer::when(look.be32(0)? <= 45 && is_timed && look.be32(28)? == 16)
}

fn accept(look: &Look<'_>) -> Option<Answer> {
    let is_timed = (1..10_000_000).contains(&look.be32(8)?);
    Answer::when(look.be32(0)? <= 37 && is_timed && look.be32(20)? == 16)
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(&[
                0, 0, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x75, 0x30, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0, 0, 16, 0
            ]),
            Some("zookeeper")
        );
    }

    /// The password has 16 bytes.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(&[
                0, 0, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x75, 0x30, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0, 0, 17, 0
            ]),
            Some("zookeeper")
        );
    }
}
