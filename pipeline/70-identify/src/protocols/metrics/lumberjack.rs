//! Lumberjack, as log shippers speak it: a window, then data frames.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "lumberjack",
    groups: &[Group::Management],
    ports: &[5044],
    rules: &[Rule::pattern(
        "lumberjack-window",
        On::Tcp,
        r"(1W\x00[\x00-\x0f]..1[CD]|2W\x00[\x00-\x0f]..2[CJ])",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"2W\0\0\x08\x002C\0\0\x01\0"), Some("lumberjack"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"2W\0\0\x08\x001C\0\0\x01\0"), Some("lumberjack"));
    }
}
