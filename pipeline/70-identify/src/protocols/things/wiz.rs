//! WiZ lamps: methods in JSON.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "wiz",
    groups: &[Group::Things],
    ports: &[38899],
    rules: &[Rule::pattern(
        "wiz-method",
        On::Udp,
        r#"\{"(id":[0-9]+,")?method":"([gs]etPilot|registration|getSystemConfig|syncPilot)""#,
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"{\"method\":\"getPilot\",\"params\":{}}"),
            Some("wiz")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"{\"method\":\"getPlot\",\"params\":{}}"),
            Some("wiz")
        );
    }
}
