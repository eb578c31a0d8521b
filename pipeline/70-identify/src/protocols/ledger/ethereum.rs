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
        Rule::check(
            "discovery-4",
            On::Udp,
            &[Lead::ANY.len_min(99).far(98, 0xc0, 0xc0)],
            discovery,
        ),
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

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram};

    /// EIP-8: a length, then a message that begins with a point.
    fn hello() -> Vec<u8> {
        let mut bytes = vec![0, 200, 4];
        bytes.extend((0..199u8).map(|byte| byte ^ 0x9d));
        bytes
    }

    fn ping() -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..96u8).map(|byte| byte ^ 0x65).collect();
        bytes.extend([1, 1, 0xc8, 4, 0xc1, 1, 0xc1, 2, 0x80, 0x80, 0x80]);
        bytes
    }

    #[test]
    fn lengths_that_fill_it_tell() {
        assert_eq!(client(&hello()), Some("ethereum"));
        assert_eq!(datagram(&ping()), Some("ethereum"));
    }

    #[test]
    fn a_near_miss_does_not() {
        let mut bytes = hello();
        bytes[1] = 199;
        assert_eq!(client(&bytes), None);
        let mut bytes = ping();
        bytes[97] = 9;
        assert_eq!(datagram(&bytes), None);
    }
}
