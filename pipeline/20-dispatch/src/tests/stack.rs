//! Builds stacks of tunnels around a packet, in both directions.

use flowpin_testkit::build::{Ip, IpPacket, tunnel};
use flowpin_wire::tunnel::UdpTunnel;
use proptest::prelude::*;

/// Tunnels that dispatch peels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tunnel {
    Ip,
    Gre,
    GreKey,
    GreBridged,
    Erspan2,
    Erspan3,
    L2tp,
    Lisp,
    LispGpe,
    Nsh,
    Capwap,
    Teredo,
    Vxlan,
    VxlanLinux,
    VxlanGpe,
    VxlanGpeBridged,
    Eoip,
    Geneve,
    Gtpu,
    GtpuExtended,
    Ayiya,
    MplsInIp,
}

pub(crate) const TUNNELS: &[Tunnel] = &[
    Tunnel::Ip,
    Tunnel::Gre,
    Tunnel::GreKey,
    Tunnel::GreBridged,
    Tunnel::Erspan2,
    Tunnel::Erspan3,
    Tunnel::L2tp,
    Tunnel::Lisp,
    Tunnel::LispGpe,
    Tunnel::Nsh,
    Tunnel::Capwap,
    Tunnel::Teredo,
    Tunnel::Vxlan,
    Tunnel::VxlanLinux,
    Tunnel::VxlanGpe,
    Tunnel::VxlanGpeBridged,
    Tunnel::Eoip,
    Tunnel::Geneve,
    Tunnel::Gtpu,
    Tunnel::GtpuExtended,
    Tunnel::Ayiya,
    Tunnel::MplsInIp,
];

/// One tunnel of a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layer {
    pub(crate) tunnel: Tunnel,
    pub(crate) outer: Ip,
    /// Numbers that differ by direction: TEID, key, session.
    pub(crate) ids: (u32, u32),
    /// VLAN tag of an inner Ethernet frame.
    pub(crate) vlan: Option<u16>,
}

impl Layer {
    /// Puts the tunnel around `inner`; `back` is the other direction.
    pub(crate) fn wrap(&self, inner: &IpPacket, back: bool) -> IpPacket {
        let (ip, id) = if back {
            (self.outer.reversed(), self.ids.1)
        } else {
            (self.outer, self.ids.0)
        };
        let frame = inner.tagged(self.vlan.as_slice());
        // Senders choose the source port by the inner flow, so it differs by direction.
        let port = 49_152 + (id % 16_000) as u16;
        let v4 = inner.ether_type() == 0x0800;
        let with = |head: &[u8], payload: &[u8]| [head, payload].concat();
        let vni = [0, 0, 7, 0];
        match self.tunnel {
            Tunnel::Ip => ip.ip(inner),
            Tunnel::Gre => ip.gre(None, inner),
            Tunnel::GreKey => ip.gre(Some(id), inner),
            Tunnel::GreBridged => ip.packet(47, &with(&[0, 0, 0x65, 0x58], &frame)),
            Tunnel::Erspan2 => {
                let head = [0x10, 0, 0x88, 0xbe, 0, 0, 0, 9, 0x10, 1, 0, 5, 0, 0, 0, 3];
                ip.packet(47, &with(&head, &frame))
            }
            Tunnel::Erspan3 => {
                let mut head = vec![0x10, 0, 0x22, 0xeb, 0, 0, 0, 9, 0x20, 1, 0, 5];
                head.extend([0, 0, 0, 1, 0, 0, 0, 0]);
                ip.packet(47, &with(&head, &frame))
            }
            Tunnel::L2tp => {
                let session = (id as u16).to_be_bytes();
                let mut head = vec![0, 2, 0, 9, session[0], session[1], 0xff, 3, 0];
                head.push(if v4 { 0x21 } else { 0x57 });
                ip.udp(1701, 1701, &with(&head, &inner.bytes))
            }
            Tunnel::Lisp => {
                // The nonce differs by direction, the instance does not.
                let nonce = id.to_be_bytes();
                let head = [0x88, nonce[1], nonce[2], nonce[3], 0, 0, 7, 1];
                ip.udp(port, 4341, &with(&head, &inner.bytes))
            }
            Tunnel::LispGpe => {
                let head = [0x0c, 0, 0, 3, 0, 0, 7, 1];
                ip.udp(port, 4341, &with(&head, &frame))
            }
            Tunnel::Nsh => {
                let next = if v4 { 1 } else { 2 };
                let path = id.to_be_bytes();
                let head = [0x0f, 0xc2, 2, next, path[1], path[2], path[3], 255];
                ip.packet(145, &with(&head, &inner.bytes))
            }
            Tunnel::Capwap => {
                let head = [0, 0x10, 2, 0, 0, 0, 0, 0];
                ip.udp(port, 5247, &with(&head, &frame))
            }
            Tunnel::Teredo if !v4 => ip.udp(port, 3544, &tunnel::teredo(inner)),
            Tunnel::Teredo | Tunnel::Vxlan => ip.udp(port, 4789, &tunnel::vxlan(7, &frame)),
            Tunnel::VxlanLinux => ip.udp(port, 8472, &tunnel::vxlan(7, &frame)),
            Tunnel::VxlanGpe => {
                let next = if v4 { 1 } else { 2 };
                let head = with(&[0x0c, 0, 0, next], &vni);
                ip.udp(port, 4790, &with(&head, &inner.bytes))
            }
            Tunnel::VxlanGpeBridged => {
                let head = with(&[0x0c, 0, 0, 3], &vni);
                ip.udp(port, 4789, &with(&head, &frame))
            }
            Tunnel::Eoip => {
                let len = (frame.len() as u16).to_be_bytes();
                let head = [0x20, 1, 0x64, 0, len[0], len[1], 7, 0];
                ip.packet(47, &with(&head, &frame))
            }
            Tunnel::Geneve => ip.udp(port, 6081, &tunnel::geneve(7, &frame)),
            Tunnel::Gtpu => ip.udp(2152, 2152, &tunnel::gtpu(id, inner)),
            Tunnel::GtpuExtended => {
                // Extension flag, one extension header (PDU session container, 0x85).
                let len = (inner.bytes.len() as u16 + 8).to_be_bytes();
                let teid = id.to_be_bytes();
                let mut head = vec![0x34, 0xff, len[0], len[1]];
                head.extend(teid);
                head.extend([0, 0, 0, 0x85, 1, 0, 9, 0]);
                ip.udp(port, 2152, &with(&head, &inner.bytes))
            }
            Tunnel::Ayiya => {
                let next = if v4 { 4 } else { 41 };
                let mut head = vec![0x41, 0x52, 0x11, next, 0, 0, 0, 1];
                head.extend([1; 16]);
                head.extend([2; 20]);
                ip.udp(port, 5072, &with(&head, &inner.bytes))
            }
            Tunnel::MplsInIp => {
                let label = [0, (id & 0x7f) as u8, 1, 64];
                ip.packet(137, &with(&label, &inner.bytes))
            }
        }
    }
}

/// Wraps from the inside out: the last layer is the outermost.
pub(crate) fn wrap_all(inner: &IpPacket, layers: &[Layer], back: bool) -> IpPacket {
    layers
        .iter()
        .fold(inner.clone(), |packet, layer| layer.wrap(&packet, back))
}

/// Endpoints of either family, from a few so that both may be the same.
pub(crate) fn any_ip() -> impl Strategy<Value = Ip> {
    prop_oneof![
        (any::<[u8; 4]>(), any::<[u8; 4]>()).prop_map(|(a, b)| Ip::v4(a, b)),
        (0u8..3, 0u8..3).prop_map(|(a, b)| Ip::v4([10, 0, 0, a], [10, 0, 0, b])),
        (any::<u16>(), any::<u16>()).prop_map(|(a, b)| Ip::v6(a, b)),
        (any::<[u8; 16]>(), any::<[u8; 16]>()).prop_map(|(a, b)| Ip::new(a, b)),
    ]
}

pub(crate) fn any_layer() -> impl Strategy<Value = Layer> {
    (
        prop::sample::select(TUNNELS.to_vec()),
        any_ip(),
        any::<(u32, u32)>(),
        prop::option::of(0u16..4096),
    )
        .prop_map(|(tunnel, outer, ids, vlan)| Layer {
            tunnel,
            outer,
            ids,
            vlan,
        })
}

/// A port that is no tunnel's.
pub(crate) fn any_port() -> impl Strategy<Value = u16> {
    prop_oneof![any::<u16>(), 0u16..3, Just(53), Just(443)].prop_filter("a tunnel's port", |port| {
        UdpTunnel::on_port(*port).is_none()
    })
}
