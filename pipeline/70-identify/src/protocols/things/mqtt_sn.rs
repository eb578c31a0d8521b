//! MQTT for sensors. Its specification 1.2, §5.4: a length that fits, a connection with a name.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mqtt-sn",
    groups: &[Group::Things, Group::Messaging],
    ports: &[1883, 10000],
    rules: &[Rule::check(
        "mqtt-sn-connect",
        On::Udp,
        &[Lead::ANY
            .and(1, &[4])
            .masked(2, 0xf3, 0)
            .and(3, &[1])
            .len_min(7)],
        connect,
    )],
};

fn connect(look: &Look<'_>) -> Option<Answer> {
    let is_sized = usize::from(look.u8(0)?) == look.len;
    let name = look.from(6);
    Answer::when(is_sized && name.len() <= 23 && name.iter().all(u8::is_ascii_graphic))
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(b"\x0a\x04\x04\x01\0\x3cdev1"), Some("mqtt-sn"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(b"\x0b\x04\x04\x01\0\x3cdev1"), Some("mqtt-sn"));
    }
}
