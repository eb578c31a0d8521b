//! Aircraft as a base station tells them, in lines of fields.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "sbs-1",
    groups: &[Group::Things],
    ports: &[30003],
    rules: &[Rule::pattern(
        "sbs-1-message",
        On::Tcp,
        r"(MSG,[1-8]|SEL|ID|AIR|STA|CLK),[0-9]*,[0-9]*,[0-9A-F]{6},",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::server;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            server(b"MSG,3,1,1,4CA2D6,1,2008/11/28,14:53:50.594\r\n"),
            Some("sbs-1")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(server(b"MSG,9,1,1,4CA2D6,1,\r\n"), Some("sbs-1"));
    }
}
