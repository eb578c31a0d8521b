//! Tailscale's disco: six bytes of magic, a key.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "tailscale",
    groups: &[Group::Tunnel, Group::Peers],
    ports: &[41641],
    rules: &[Rule::check(
        "disco-magic",
        On::Udp,
        &[Lead::start(b"TS\xf0\x9f\x92\xac").len_min(62)],
        check,
    )
    .ranked(50)],
};

/// Magic, the sender's key (32 bytes), a nonce (24).
fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.len >= 62)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn disco(len: usize) -> Vec<u8> {
        let mut bytes = b"TS\xf0\x9f\x92\xac".to_vec();
        bytes.resize(len, 0x9b);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&disco(62)), Some("tailscale"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&disco(61)), Some("tailscale"));
    }
}
