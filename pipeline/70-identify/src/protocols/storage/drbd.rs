//! DRBD: a magic number, a volume, a command.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "drbd",
    groups: &[Group::Files],
    ports: &[7788],
    rules: &[
        Rule::pattern(
            "drbd-header",
            On::Tcp,
            r"\x86\x20\xec\x20[\x00-\xff]{2}\x00[\x00-\x60]\x00",
        ),
        Rule::pattern(
            "drbd-old-header",
            On::Tcp,
            r"\x83\x74\x02\x67\x00[\x00-\x60]\x00",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\x86\x20\xec\x20\xff\xff\0\x2d\0\0\0\x40"),
            Some("drbd")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"\x86\x20\xed\x20\xff\xff\0\x2d\0\0\0\x40"),
            Some("drbd")
        );
    }
}
