//! Facts about fragments that the engine reads itself: addresses, VLANs and tunnels.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use flowpin_config::DefragmentationPlan;
use flowpin_packet::{FragmentRef, PacketMeta};

/// Which fragments never belong to one datagram, whatever their headers say.
///
/// Off by default: VLAN and tunnel do not distinguish connections either, and a capture of two
/// links may show the fragments of one datagram under different tags. Where the same addresses are
/// used in several networks, `by_vlan` or `by_tunnel` keeps their fragments apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptApart {
    by_vlan: bool,
    by_tunnel: bool,
    id_seed: u64,
}

impl KeptApart {
    pub(crate) const fn new(plan: &DefragmentationPlan, id_seed: u64) -> Self {
        Self {
            by_vlan: plan.by_vlan,
            by_tunnel: plan.by_tunnel,
            id_seed,
        }
    }

    /// A hash of the VLANs and tunnels that keep fragments apart; 0 for none.
    #[inline]
    pub(crate) fn context(&self, bytes: &[u8], fragment: &FragmentRef) -> u32 {
        if self.by_vlan || self.by_tunnel {
            self.read(bytes, fragment)
        } else {
            0
        }
    }

    #[cold]
    fn read(&self, bytes: &[u8], fragment: &FragmentRef) -> u32 {
        let frame = bytes
            .get(fragment.frame_start as usize..)
            .unwrap_or_default();
        let l3 = fragment.header_start.saturating_sub(fragment.frame_start);
        let meta = PacketMeta {
            l3_offset: u16::try_from(l3).unwrap_or(u16::MAX),
            wire_len: fragment.wire_len,
            flags: fragment.context.flags,
            link: fragment.context.link,
            ..PacketMeta::default()
        };
        let mut hash = 0u64;
        let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(PRIME).rotate_left(29);
        if self.by_vlan {
            for vlan in flowpin_dispatch::vlans(&meta, frame) {
                add(u64::from(vlan));
            }
        }
        if self.by_tunnel {
            flowpin_dispatch::tunnels(&meta, frame, |layer| {
                add(flowpin_dispatch::tunnel_uid(self.id_seed, &layer).0);
            });
        }
        (hash >> 32) as u32 ^ hash as u32
    }
}

/// Source and destination of the packet that starts here.
pub(crate) fn addresses(packet: &[u8], ipv6: bool) -> (IpAddr, IpAddr) {
    if ipv6 {
        let at = |start| IpAddr::V6(Ipv6Addr::from(octets::<16>(packet, start)));
        (at(8), at(24))
    } else {
        let at = |start| IpAddr::V4(Ipv4Addr::from(octets::<4>(packet, start)));
        (at(12), at(16))
    }
}

/// Whether a packet, which was accepted and is no fragment, has a Fragment header: an "atomic
/// fragment" (RFC 6946).
pub(crate) fn is_atomic(packet: &[u8]) -> bool {
    let version = packet
        .first_chunk::<IPV6_HEADER_LEN>()
        .map(|header| header[0] >> 4);
    if version != Some(6) {
        return false;
    }
    let (mut protocol, mut at) = (packet.get(6).copied(), IPV6_HEADER_LEN);
    for _ in 0..HEADERS_MAX {
        match protocol {
            Some(FRAGMENT) => return true,
            Some(HOP_BY_HOP | ROUTING | DESTINATION) => {}
            _ => return false,
        }
        protocol = packet.get(at).copied();
        let units = packet.get(at + 1).copied().unwrap_or(0);
        at += (usize::from(units) + 1) * 8;
    }
    false
}

fn octets<const N: usize>(bytes: &[u8], start: usize) -> [u8; N] {
    bytes
        .get(start..)
        .and_then(|rest| rest.first_chunk())
        .copied()
        .unwrap_or([0; N])
}

const IPV6_HEADER_LEN: usize = 40;
const HEADERS_MAX: usize = 8;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;
/// An odd number whose bits are spread evenly.
const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;
    use flowpin_packet::{LinkType, PacketFlags, PeelContext};

    /// VLANs keep fragments apart only if configured.
    #[test]
    fn vlans_keep_fragments_apart_if_configured() {
        let context = |by_vlan: bool, tag: u8| {
            let mut frame = vec![0; 12];
            frame.extend([0x81, 0, 0, tag, 8, 0, 0x45]);
            frame.resize(18 + 28, 0);
            let fragment = FragmentRef {
                header_start: 18,
                wire_len: 46,
                context: PeelContext {
                    link: LinkType::Ethernet,
                    flags: PacketFlags::VLAN,
                    ..PeelContext::default()
                },
                ..FragmentRef::default()
            };
            let plan = DefragmentationPlan {
                by_vlan,
                ..DefragmentationPlan::default()
            };
            KeptApart::new(&plan, 0).context(&frame, &fragment)
        };
        assert_eq!(context(false, 5), 0);
        assert_eq!(context(true, 5), context(true, 5));
        assert_ne!(context(true, 5), context(true, 6));
    }

    /// Only the Fragment header makes a packet atomic; it may follow others, and IPv4 has
    /// none.
    #[test]
    fn atomic_fragments_are_distinguished_from_other_packets() {
        let mut packet = vec![0; 72];
        packet[0] = 0x60;
        for (first, second, expected) in [
            (44, 17, true),
            (0, 44, true),
            (60, 17, false),
            (17, 44, false),
        ] {
            (packet[6], packet[40]) = (first, second);
            assert_eq!(is_atomic(&packet), expected, "{first} {second}");
        }
        (packet[0], packet[6]) = (0x45, 44);
        assert!(!is_atomic(&packet));
        assert!(!is_atomic(&[]));
    }
}
