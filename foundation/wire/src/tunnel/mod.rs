//! Tunnels: headers that carry packets or frames of their own.
//!
//! A tunnel on a well-known port may be something else, so these views are strict: versions,
//! reserved bits and the protocol inside must be as the standard says, or `parse` refuses.
//! Dispatch takes a refusal on a UDP port for "not this tunnel", not for a broken packet.
//!
//! A new tunnel over UDP is its view, beside these files, and its lines in [`UdpTunnel`] below;
//! over IP, in [`IpTunnel`]. All that removes tunnels goes through these two.

mod ayiya;
mod capwap;
mod erspan;
mod geneve;
mod gre;
mod gtpu;
mod l2tp;
mod lisp;
mod nsh;
mod over_ip;
mod teredo;
mod vxlan;
mod wireguard;

pub use ayiya::AyiyaHeader;
pub use capwap::CapwapHeader;
pub use erspan::{Erspan2Header, Erspan3Header};
pub use geneve::{GeneveHeader, GeneveOption, GeneveOptions};
pub use gre::{EoipHeader, GreHeader};
pub use gtpu::GtpuHeader;
pub use l2tp::{L2tpHeader, L2tpVersion};
pub use lisp::LispHeader;
pub use nsh::NshHeader;
pub use over_ip::IpTunnel;
pub use teredo::{TeredoHeader, TeredoOrigin};
pub use vxlan::{VxlanGpeHeader, VxlanHeader};
pub use wireguard::{WireguardKind, WireguardMessage};

use crate::Next;
use crate::link::looks_like_ethernet;
use flowpin_packet::{Layer, Malformed, Reason, TunnelKind, bad};

/// A valid tunnel header: all that is needed to go on behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunnelHeader {
    /// The kind of tunnel.
    pub kind: TunnelKind,
    /// The number in it: VNI, TEID, key, session, service path, instance; 0 where there is none.
    pub id: u32,
    /// What follows; [`Next::Opaque`] if it cannot be read.
    pub next: Next,
    /// Its length, which is at most that of the bytes it was parsed from.
    pub header_len: usize,
}

/// A tunnel over UDP that has ports of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UdpTunnel {
    /// [`L2tpHeader`].
    L2tp,
    /// [`GtpuHeader`].
    Gtpu,
    /// [`TeredoHeader`]; between clients also on other ports.
    Teredo,
    /// [`LispHeader`]: the data plane.
    Lisp,
    /// [`VxlanHeader`]; some senders put [`VxlanGpeHeader`] on this port, too.
    Vxlan,
    /// [`VxlanGpeHeader`].
    VxlanGpe,
    /// [`AyiyaHeader`].
    Ayiya,
    /// [`CapwapHeader`]: the data channel.
    Capwap,
    /// [`GeneveHeader`].
    Geneve,
}

impl UdpTunnel {
    /// All ports, and what runs on them.
    pub const PORTS: &[(u16, Self)] = &[
        (L2tpHeader::PORT, Self::L2tp),
        (GtpuHeader::PORT, Self::Gtpu),
        (TeredoHeader::PORT, Self::Teredo),
        (LispHeader::PORT, Self::Lisp),
        (VxlanHeader::PORT, Self::Vxlan),
        (VxlanGpeHeader::PORT, Self::VxlanGpe),
        (AyiyaHeader::PORT, Self::Ayiya),
        (CapwapHeader::PORT, Self::Capwap),
        (GeneveHeader::PORT, Self::Geneve),
        (VxlanHeader::PORT_LINUX, Self::Vxlan),
    ];

    /// The tunnel that runs on a port.
    ///
    /// ```
    /// use flowpin_wire::tunnel::UdpTunnel;
    /// assert_eq!(UdpTunnel::on_port(4789), Some(UdpTunnel::Vxlan));
    /// assert_eq!(UdpTunnel::on_port(53), None);
    /// ```
    pub const fn on_port(port: u16) -> Option<Self> {
        let mut rest: &[(u16, Self)] = Self::PORTS;
        while let Some((&(known, tunnel), others)) = rest.split_first() {
            if known == port {
                return Some(tunnel);
            }
            rest = others;
        }
        None
    }

    /// Reads the payload of a UDP datagram, of `wire_len` bytes on the wire, as this tunnel.
    ///
    /// # Errors
    /// Those of the view.
    pub fn parse(self, payload: &[u8], wire_len: usize) -> Result<TunnelHeader, Malformed> {
        let (kind, id, next, header_len) = match self {
            Self::L2tp => {
                let view = L2tpHeader::parse(payload, wire_len)?;
                let id = u32::from(view.tunnel_id()) << 16 ^ view.session_id();
                (TunnelKind::L2tp, id, view.next(), view.header_len())
            }
            Self::Gtpu => {
                let view = GtpuHeader::parse(payload, wire_len)?;
                let id = view.endpoint_id();
                (TunnelKind::Gtpu, id, view.next(), view.header_len())
            }
            Self::Teredo => {
                let view = TeredoHeader::parse(payload, wire_len)?;
                (TunnelKind::Teredo, 0, view.next(), view.header_len())
            }
            Self::Lisp => {
                let view = LispHeader::parse(payload, wire_len)?;
                let id = view.instance_id().unwrap_or(0);
                (TunnelKind::Lisp, id, view.next(), view.header_len())
            }
            // The P bit tells the extension from VXLAN, also on VXLAN's port, where some send it.
            Self::Vxlan => match Self::VxlanGpe.parse(payload, wire_len) {
                Ok(header) => return Ok(header),
                Err(_) => {
                    let view = VxlanHeader::parse(payload)?;
                    let id = view.network_id();
                    (TunnelKind::Vxlan, id, view.next(), view.header_len())
                }
            },
            Self::VxlanGpe => {
                let view = VxlanGpeHeader::parse(payload)?;
                let id = view.network_id();
                (TunnelKind::Vxlan, id, view.next(), view.header_len())
            }
            Self::Ayiya => {
                let view = AyiyaHeader::parse(payload)?;
                (TunnelKind::Ayiya, 0, view.next(), view.header_len())
            }
            Self::Capwap => {
                let view = CapwapHeader::parse(payload)?;
                (TunnelKind::Capwap, 0, view.next(), view.header_len())
            }
            Self::Geneve => {
                let view = GeneveHeader::parse(payload)?;
                let id = view.network_id();
                (TunnelKind::Geneve, id, view.next(), view.header_len())
            }
        };
        Ok(TunnelHeader {
            kind,
            id,
            next,
            header_len,
        })
    }
}

/// Refuses a payload that is not what the header around it says: the header's few fixed bits
/// are easily met by chance (a DNS query with the right identifier begins like VXLAN).
fn check_carried(next: Next, payload: &[u8], layer: Layer, offset: u16) -> Result<(), Malformed> {
    let (least_len, plausible) = match next {
        Next::Ethernet => (14, looks_like_ethernet(payload)),
        Next::Ipv4 | Next::Ipv6 => (1, Next::from_ip_version(payload) == next),
        Next::Ip => (1, Next::from_ip_version(payload) != Next::Opaque),
        _ => (0, true),
    };
    if payload.len() < least_len {
        return Err(bad(layer, Reason::Truncated, offset));
    }
    if !plausible {
        return Err(bad(layer, Reason::IllegalValue, offset));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::UdpTunnel;

    /// A second tunnel on the same port would never be tried.
    #[test]
    fn every_port_stands_for_one_tunnel() {
        for &(port, tunnel) in UdpTunnel::PORTS {
            assert_eq!(UdpTunnel::on_port(port), Some(tunnel));
        }
    }
}
