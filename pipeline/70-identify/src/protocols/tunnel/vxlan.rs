//! VXLAN. RFC 7348 §5: a flag, a network's number, an Ethernet frame.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};
use flowpin_wire::tunnel::VxlanHeader;

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "vxlan",
    groups: &[Group::Tunnel],
    ports: &[VxlanHeader::PORT, VxlanHeader::PORT_LINUX],
    rules: &[Rule::check(
        "vxlan-frame",
        On::Udp,
        &[Lead::start(&[8, 0, 0, 0]).and(7, &[0]).len_min(42)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(match look.be16(20)? {
        0x0800 => look.u8(22)? >> 4 == 4 && look.len16_at(24)?.checked_add(22)? <= look.len,
        0x86dd => look.u8(22)? >> 4 == 6,
        0x0806 => look.be16(22)? == 1 && look.be16(24)? == 0x0800,
        0x8100 => look.be16(24)? == 0x0800 || look.be16(24)? == 0x86dd,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    /// An IPv4 packet of 20 bytes in a frame.
    fn framed(first: u8) -> Vec<u8> {
        let mut bytes = vec![8, 0, 0, 0, 0, 0, 7, 0];
        bytes.extend([2; 12]);
        bytes.extend([8, 0, first, 0, 0, 20]);
        bytes.resize(42, 1);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&framed(0x45)), Some("vxlan"));
    }

    /// The version inside agrees with the kind of frame.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&framed(0x35)), Some("vxlan"));
    }
}
