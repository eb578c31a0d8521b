//! Zabbix: four letters, flags, a length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "zabbix",
    groups: &[Group::Management],
    ports: &[10050, 10051],
    rules: &[Rule::check(
        "zabbix-header",
        On::Tcp,
        &[Lead::start(b"ZBXD").masked(4, 0xf8, 0).len_min(13)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.u8(4)? & 1 == 1 && look.le32(5)? < 1 << 30)
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"ZBXD\x01\x0a\0\0\0\0\0\0\0agent.ping"),
            Some("zabbix")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"ZBXD\x00\x0a\0\0\0\0\0\0\0agent.ping"),
            Some("zabbix")
        );
    }
}
