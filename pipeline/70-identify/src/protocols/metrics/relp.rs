//! RELP: a number, a command, a length, an offer.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "relp",
    groups: &[Group::Management],
    ports: &[2514],
    rules: &[Rule::pattern(
        "relp-open",
        On::Tcp,
        r"1 open [0-9]{1,5} relp_version=[0-9]",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"1 open 85 relp_version=0\nrelp_software=librelp"),
            Some("relp")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"2 open 85 relp_version=0\n"), Some("relp"));
    }
}
