//! NSQ: two spaces and a version, then a command.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "nsq",
    groups: &[Group::Messaging],
    ports: &[4150],
    rules: &[Rule::pattern(
        "nsq-hello",
        On::Tcp,
        r"  V2(IDENTIFY|SUB |PUB |MPUB |AUTH)",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"  V2IDENTIFY\n\0\0\0\x02{}"), Some("nsq"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"  V3IDENTIFY\n"), Some("nsq"));
    }
}
