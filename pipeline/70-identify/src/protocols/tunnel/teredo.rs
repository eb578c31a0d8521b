//! Teredo's own packets. RFC 4380 §5.1.1: authentication and origin before IPv6.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};
use flowpin_wire::tunnel::TeredoHeader;

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "teredo",
    groups: &[Group::Tunnel],
    ports: &[TeredoHeader::PORT],
    rules: &[
        Rule::check(
            "teredo-ipv6",
            On::Udp,
            &[Lead::ANY.masked(0, 0xf0, 0x60).len_min(40)],
            inner,
        ),
        Rule::check(
            "teredo-headers",
            On::Udp,
            &[
                Lead::start(&[0, 0]).len_min(48),
                Lead::start(&[0, 1]).len_min(48),
            ],
            headers,
        ),
    ],
};

fn inner(look: &Look<'_>) -> Option<Answer> {
    at(look, 0)
}

fn headers(look: &Look<'_>) -> Option<Answer> {
    if look.be16(0)? == 0 {
        return at(look, 8);
    }
    let start = usize::from(look.u8(2)?)
        .checked_add(usize::from(look.u8(3)?))?
        .checked_add(13)?;
    if look.be16(start)? == 0 {
        return at(look, start.checked_add(8)?);
    }
    at(look, start)
}

/// An IPv6 packet that fills the rest, with Teredo or link-local addresses.
fn at(look: &Look<'_>, at: usize) -> Option<Answer> {
    let len = usize::from(look.be16(at.checked_add(4)?)?);
    let is_six = look.u8(at)? >> 4 == 6;
    let is_whole = at.checked_add(40)?.checked_add(len)? == look.len;
    let source = look.be32(at.checked_add(8)?)?;
    let target = look.be32(at.checked_add(24)?)?;
    let is_teredo = |prefix: u32| prefix == 0x2001_0000 || prefix >> 16 == 0xfe80;
    Answer::when(is_six && is_whole && (is_teredo(source) || is_teredo(target)))
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn bubble() -> [u8; 40] {
        let mut bytes = [0; 40];
        bytes[..8].copy_from_slice(&[0x60, 0, 0, 0, 0, 0, 59, 21]);
        bytes[8..12].copy_from_slice(&[0x20, 1, 0, 0]);
        bytes[24..28].copy_from_slice(&[0x20, 1, 0, 0]);
        bytes
    }

    /// RFC 4380 §2.8: a bubble is an IPv6 header and nothing behind it.
    #[test]
    fn a_bubble_tells() {
        assert_eq!(datagram(&bubble()), Some("teredo"));
    }

    #[test]
    fn a_near_miss_does_not() {
        let mut bytes = bubble();
        bytes[5] = 1;
        assert_eq!(datagram(&bytes), None);
    }
}
