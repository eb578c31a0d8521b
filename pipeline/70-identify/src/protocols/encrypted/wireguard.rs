//! WireGuard. Its paper §5.4: four types of message, three of them of one size.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};
use flowpin_wire::tunnel::WireguardMessage;

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "wireguard",
    groups: &[Group::Tunnel, Group::Encrypted],
    ports: &[WireguardMessage::PORT],
    rules: &[Rule::check(
        "wireguard-message",
        On::Udp,
        &[
            Lead::start(&[1, 0, 0, 0]).len_min(148),
            Lead::start(&[2, 0, 0, 0]).len_min(92),
            Lead::start(&[3, 0, 0, 0]).len_min(64),
            Lead::start(&[4, 0, 0, 0]).len_min(32),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.len;
    match look.u8(0)? {
        1 => Answer::when(len == 148),
        2 => Answer::when(len == 92),
        3 => Answer::when(len == 64),
        // Data: padded to 16 bytes; a counter that grows under the same receiver.
        _ => {
            let is_padded = len.is_multiple_of(16) && look.be32(12)? == 0;
            let again = look.earlier.get(..8) == look.bytes.get(..8);
            Some(match (is_padded, again) {
                (true, true) => Answer::Yes,
                (true, false) => Answer::Likely,
                _ => Answer::No,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{datagram, datagrams};

    fn message(kind: u8, len: usize) -> Vec<u8> {
        let mut bytes = vec![kind, 0, 0, 0];
        bytes.resize(len, 0xa7);
        bytes
    }

    #[test]
    fn types_have_their_lengths() {
        for (kind, len) in [(1, 148), (2, 92), (3, 64)] {
            assert_eq!(datagram(&message(kind, len)), Some("wireguard"));
        }
    }

    /// Data has a receiver and a counter: two messages to the same receiver are enough.
    #[test]
    fn data_tells_when_it_repeats() {
        let mut data = message(4, 64);
        data[12..16].fill(0);
        assert_eq!(datagram(&data), None);
        let sent: &[(bool, &[u8])] = &[(true, &data), (true, &data)];
        assert_eq!(datagrams(sent, (50_000, 50_001)), Some("wireguard"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_eq!(datagram(&message(1, 149)), None);
        assert_eq!(datagram(&message(5, 148)), None);
    }
}
