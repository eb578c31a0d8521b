//! RakNet: the offline message identifier, and what stands around it.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "raknet",
    groups: &[Group::Games],
    ports: &[19132],
    rules: &[Rule::check("raknet-offline", On::Udp, LEADS, check)],
};

/// By the numbers of messages that have it, or nearly.
const LEADS: &[Lead] = &[
    Lead::start(&[1]).len_min(17),
    Lead::start(&[2]).len_min(17),
    Lead::ANY.masked(0, 0xfc, 4).len_min(17),
    Lead::start(&[8]).len_min(17),
    Lead::ANY.masked(0, 0xfc, 0x18).len_min(17),
    Lead::start(&[0x1c]).len_min(17),
    Lead::start(&[0x7b]).len_min(17),
];

/// The 16 bytes that no connected message has.
const OFFLINE: [u8; 16] = [
    0x00, 0xff, 0xff, 0x00, 0xfe, 0xfe, 0xfe, 0xfe, 0xfd, 0xfd, 0xfd, 0xfd, 0x12, 0x34, 0x56, 0x78,
];

fn check(look: &Look<'_>) -> Option<Answer> {
    let place = match look.u8(0)? {
        1 | 2 => 9usize,
        0x1c => 17,
        5..=8 | 0x7b | 0x19 | 0x1a => 1,
        _ => return Some(Answer::No),
    };
    let at = |from: usize| look.range(from, 16) == Some(&OFFLINE[..]);
    Answer::when(
        at(place)
            || at(1)
            || look
                .bytes
                .windows(16)
                .skip(9)
                .take(24)
                .any(|part| part == OFFLINE),
    )
}
