//! VTun: its server greets with a version.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "vtun",
    groups: &[Group::Tunnel],
    ports: &[5000],
    rules: &[Rule::pattern(
        "vtun-greeting",
        On::Tcp,
        r"VTUN server ver [0-9]",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::server;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(server(b"VTUN server ver 3.X 01/01/2020\n"), Some("vtun"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(server(b"VTUN service ver 3.X\n"), Some("vtun"));
    }
}
