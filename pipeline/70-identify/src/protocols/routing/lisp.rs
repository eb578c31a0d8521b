//! LISP's control. RFC 9301 §5.6: a registration, its kind of key and that key's length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "lisp",
    groups: &[Group::Routing, Group::Tunnel],
    ports: &[4342],
    rules: &[Rule::check(
        "lisp-register",
        On::Udp,
        &[
            Lead::ANY.masked(0, 0xf0, 0x30).len_min(36),
            Lead::ANY.masked(0, 0xf0, 0x40).len_min(36),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let records = look.u8(3)?;
    let is_key = matches!((look.be16(12)?, look.be16(14)?), (1, 20) | (2, 32));
    Answer::when(is_key && (1..=64).contains(&records) && look.be64(4)? != 0)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn register(len: u8) -> Vec<u8> {
        let mut bytes = vec![0x32, 0, 0x11, 2, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 0, len];
        bytes.resize(64, 3);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&register(20)), Some("lisp"));
    }

    /// Each kind of key has one length.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&register(21)), Some("lisp"));
    }
}
