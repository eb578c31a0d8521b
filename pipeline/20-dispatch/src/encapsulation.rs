//! The encapsulation of a packet: VLAN tags and tunnels, read again on demand.
//!
//! Needed once per connection, and once per packet inside a tunnel, so the descriptor does not
//! store it. The walk is that of the peel loop, without its checks of lengths: those held when the
//! packet was dispatched, and around a reassembled datagram they cannot hold.

use crate::peel::{Peel, TunnelLayer, Watch};
use crate::pin::hash::mix_words;
use core::net::IpAddr;
use flowpin_packet::{NumberScope, PacketFlags, PacketMeta};
use flowpin_record::Uid;
use flowpin_wire::Next;
use flowpin_wire::tunnel::UdpTunnel;

/// No such VLAN tag.
pub const NO_VLAN: u16 = 0xffff;

/// The VLANs of a packet, outermost first; [`NO_VLAN`] where there is none. `frame` is the
/// packet's frame (`FrameBytes::frame`).
pub fn vlans(meta: &PacketMeta, frame: &[u8]) -> [u16; 2] {
    let mut vlans = [NO_VLAN; 2];
    if !meta.flags.has(PacketFlags::VLAN) {
        return vlans;
    }
    let mut free = vlans.iter_mut();
    walk(
        meta,
        frame,
        |id| free.next().map_or((), |vlan| *vlan = id),
        |_| (),
    );
    vlans
}

/// Passes the tunnels around a packet to `each`, outermost first.
pub fn tunnels(meta: &PacketMeta, frame: &[u8], each: impl FnMut(TunnelLayer)) {
    if meta.flags.has(PacketFlags::TUNNELLED) {
        walk(meta, frame, |_| (), each);
    }
}

/// Whether a UDP port is one of a tunnel's.
pub fn is_tunnel_port(port: u16) -> bool {
    UdpTunnel::on_port(port).is_some()
}

/// The identifier of a tunnel: both directions have the same.
///
/// Made from the outer addresses and the kind. The number in the header counts if both directions
/// have the same ([`NumberScope`]); otherwise each side chooses its own. UDP ports do not count:
/// some tunnels vary the sender's from packet to packet.
pub fn tunnel_uid(id_seed: u64, layer: &TunnelLayer) -> Uid {
    let (low, high) = match layer.addresses {
        Some((source, destination)) if source <= destination => (words(source), words(destination)),
        Some((source, destination)) => (words(destination), words(source)),
        None => ([0; 3], [0; 3]),
    };
    let number = match layer.kind.number_scope() {
        NumberScope::Network => layer.id,
        NumberScope::Path if layer.addresses.is_none() => layer.id,
        NumberScope::Path | NumberScope::Side => 0,
    };
    let head = u64::from(number) << 8 | layer.kind as u64;
    Uid(mix_words(
        id_seed ^ TUNNEL,
        [head].into_iter().chain(low).chain(high),
    ))
}

fn walk(meta: &PacketMeta, frame: &[u8], vlan: impl FnMut(u16), tunnel: impl FnMut(TunnelLayer)) {
    let watch = Report {
        l3_offset: meta.l3_offset,
        vlan,
        tunnel,
    };
    let mut peel = Peel::new(frame, meta.wire_len as usize, watch);
    peel.again = true;
    peel.run(Next::Link(meta.link));
}

/// Reports the layers before the packet's own header.
struct Report<V, T> {
    l3_offset: u16,
    vlan: V,
    tunnel: T,
}

impl<V: FnMut(u16), T: FnMut(TunnelLayer)> Watch for Report<V, T> {
    fn vlan(&mut self, id: u16) {
        (self.vlan)(id);
    }

    fn tunnel(&mut self, layer: TunnelLayer) {
        if layer.inner_offset <= self.l3_offset {
            (self.tunnel)(layer);
        }
    }
}

fn words(address: IpAddr) -> [u64; 3] {
    match address {
        IpAddr::V4(address) => [4, 0, u64::from(address.to_bits())],
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            [6, (bits >> 64) as u64, bits as u64]
        }
    }
}

/// Distinguishes tunnels' identifiers from others made with the same seed.
const TUNNEL: u64 = 0x7475_6e6e_656c_0000;
