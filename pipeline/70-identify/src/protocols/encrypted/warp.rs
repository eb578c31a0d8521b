//! Cloudflare's WARP: WireGuard's messages, their types marked, with a client's number.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "warp",
    groups: &[Group::Encrypted, Group::Tunnel],
    ports: &[2408],
    rules: &[Rule::check(
        "warp-data",
        On::Udp,
        &[Lead::start(&[0xc4]).len_min(32)],
        data,
    )],
};

/// Type 4, three bytes for the client, the receiver, a counter from the lowest byte on.
fn data(look: &Look<'_>) -> Option<Answer> {
    let count = look.le32(8)?;
    if look.le32(12)? != 0 {
        return Some(Answer::No);
    }
    let before = Look {
        bytes: look.earlier,
        ..*look
    };
    let is_same = before.range(0, 8).is_some() && before.range(0, 8) == look.range(0, 8);
    let is_grown = before
        .le32(8)
        .is_some_and(|earlier| count.wrapping_sub(earlier).wrapping_sub(1) < 64);
    let is_known = look.on_port(&[2408]) && before.u8(0).is_none_or(|kind| kind & 0xf8 == 0xc0);
    Answer::when((is_same && is_grown) || is_known)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagrams;

    fn sent(count: u8) -> Vec<u8> {
        let mut bytes = vec![0xc4, 2, 0x78, 0, 0x68, 0x84, 0xee, 0, count];
        bytes.resize(16, 0);
        bytes.resize(72, 0xb7);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagrams(&[(true, &sent(1)), (true, &sent(2))], (50_000, 50_001)),
            Some("warp")
        );
        assert_eq!(datagrams(&[(true, &sent(1))], (50_000, 2408)), Some("warp"));
    }

    /// The counter grows.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagrams(&[(true, &sent(1))], (50_000, 50_001)),
            Some("warp")
        );
        assert_ne!(
            datagrams(&[(true, &sent(2)), (true, &sent(1))], (50_000, 50_001)),
            Some("warp")
        );
    }
}
