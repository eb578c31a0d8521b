//! WireGuard. Its paper §5.4: four types of message, three of them of one size.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "wireguard",
    groups: &[Group::Tunnel, Group::Encrypted],
    ports: &[51820],
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
