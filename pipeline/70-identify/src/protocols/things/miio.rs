//! Xiaomi's devices: two bytes of magic, a length that fits.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "miio",
    groups: &[Group::Things],
    ports: &[54321],
    rules: &[Rule::check(
        "miio-packet",
        On::Udp,
        &[Lead::start(&[0x21, 0x31]).len_min(32)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.len16_at(2)? == look.len && look.len >= 32)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn hello(len: u8) -> Vec<u8> {
        let mut bytes = vec![0x21, 0x31, 0, len];
        bytes.resize(32, 0xff);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&hello(32)), Some("miio"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&hello(33)), Some("miio"));
    }
}
