//! NoMachine: its name and version.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "nomachine",
    groups: &[Group::Remote],
    ports: &[4000],
    rules: &[Rule::pattern(
        "nomachine-hello",
        On::Tcp,
        r"NXS[HC]-[0-9]{1,2}\.[0-9]",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::server;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(server(b"NXSH-8.10.1\n"), Some("nomachine"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(server(b"NXSX-8.10.1\n"), Some("nomachine"));
    }
}
