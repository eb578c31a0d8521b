//! Ethereum's peers. devp2p's RLPx: a length and an ephemeral key; discovery v4: a hash, a
//! signature, a type, a list that fills the rest.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ethereum",
    groups: &[Group::Ledger, Group::Peers],
    ports: &[30303],
    rules: &[
        Rule::check(
            "rlpx-handshake",
            On::Tcp,
            &[Lead::at(2, &[4]).masked(0, 0xfc, 0)],
            handshake,
        ),
        Rule::check("discovery-4", On::Udp, &[Lead::ANY.len_min(99)], discovery),
    ],
};

/// EIP-8: the message is as long as it says, the key an uncompressed point.
fn handshake(look: &Look<'_>) -> Option<Answer> {
    let len = usize::from(look.be16(0)?);
    if !(170..=1200).contains(&len) {
        return Some(Answer::No);
    }
    let end = len.saturating_add(2);
    if look.bytes.len() < end || (look.bytes.len() == end && !look.ended) {
        return if look.ended { Some(Answer::No) } else { None };
    }
    // Nobody says more before the other side has answered.
    Answer::when(look.bytes.len() == end)
}

fn discovery(look: &Look<'_>) -> Option<Answer> {
    // The recovery byte of the signature, then the type.
    let [recovery, kind, list] = look.array(96)?;
    let mut cursor = look.cursor(99);
    let len = match list {
        0xc0..=0xf7 => usize::from(list & 0x3f),
        0xf8 => cursor.len8()?,
        0xf9 => cursor.len16()?,
        _ => return Some(Answer::No),
    };
    let is_packet = recovery <= 1 && (1..=6).contains(&kind);
    Answer::when(is_packet && len == cursor.left() && len >= 8)
}
