//! Tunnels: entered only if their header is valid.

use super::{Peel, Step, Watch, offset};
use core::net::IpAddr;
use flowpin_packet::{Malformed, PacketFlags};
use flowpin_record::TunnelKind;
use flowpin_wire::Next;
use flowpin_wire::tunnel::{
    AyiyaHeader, CapwapHeader, EoipHeader, Erspan2Header, Erspan3Header, GeneveHeader, GreHeader,
    GtpuHeader, IpTunnel, L2tpHeader, NshHeader, TeredoHeader, UdpTunnel, VxlanGpeHeader,
    VxlanHeader,
};

/// One tunnel around a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunnelLayer {
    /// The kind of tunnel.
    pub kind: TunnelKind,
    /// The number in its header: VNI, TEID, key, session, service path; 0 where there is none.
    pub id: u32,
    /// Outer source and destination. None for a service header without an IP packet around.
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// Outer UDP ports; 0 for tunnels directly over IP.
    pub ports: (u16, u16),
    /// Where, from the start of the frame, the inner frame or packet starts.
    pub inner_offset: u16,
}

/// A valid tunnel header.
struct Entered {
    kind: TunnelKind,
    id: u32,
    next: Next,
    header_len: usize,
}

impl<W: Watch> Peel<'_, W> {
    /// Enters the tunnel that the payload of a UDP datagram may be.
    pub(super) fn udp_tunnel(
        &mut self,
        header_len: usize,
        payload_len: usize,
    ) -> Result<Step, Malformed> {
        let (from, to) = self.ports();
        let rest = self.rest().get(header_len..).unwrap_or_default();
        let payload = rest.get(..payload_len).unwrap_or(rest);
        // The receiver's port first: the sender's is often chosen at random.
        let of_ports = |payload: &[u8], wire_len| {
            of_port(to, payload, wire_len)
                .or_else(|| of_port(from, payload, wire_len))
                .or_else(|| of_no_port(payload, wire_len))
        };
        let mut entered = of_ports(payload, payload_len);
        if self.again && entered.is_none() {
            // The outer length is one fragment's; the content has its own by now.
            entered = of_ports(rest, rest.len());
        }
        match entered {
            Some(entered) if entered.next != Next::Opaque => {
                self.enter(header_len, Some(payload_len));
                self.enter_tunnel(entered)
            }
            _ => Ok(Step::Packet),
        }
    }

    /// Enters the tunnel that a packet of another protocol may be.
    pub(super) fn ip_tunnel(&mut self, protocol: u8) -> Result<Step, Malformed> {
        let bytes = self.rest();
        let bare = |next| Entered {
            kind: TunnelKind::Ip,
            id: 0,
            next,
            header_len: 0,
        };
        let version = Next::from_ip_version(bytes);
        let entered = match IpTunnel::of_protocol(protocol) {
            Some(IpTunnel::Ipv4) if version == Next::Ipv4 => Some(bare(Next::Ipv4)),
            Some(IpTunnel::Ipv6) if version == Next::Ipv6 => Some(bare(Next::Ipv6)),
            Some(IpTunnel::Ethernet) => Some(bare(Next::Ethernet)),
            Some(IpTunnel::Mpls) => Some(bare(Next::Mpls)),
            Some(IpTunnel::Nsh) => nsh(bytes),
            Some(IpTunnel::L2tp) => L2tpHeader::parse_over_ip(bytes).ok().map(|header| Entered {
                kind: TunnelKind::L2tp,
                id: header.session_id(),
                next: header.next(),
                header_len: header.header_len(),
            }),
            Some(IpTunnel::Gre) => gre(bytes),
            _ => None,
        };
        match entered {
            Some(entered) if entered.next != Next::Opaque => self.enter_tunnel(entered),
            _ => Ok(Step::Packet),
        }
    }

    /// A service header that follows a link header or another tunnel's.
    pub(super) fn service_header(&mut self) -> Result<Step, Malformed> {
        let header = NshHeader::parse(self.rest())?;
        if header.next() == Next::Opaque {
            return Ok(Step::NonIp(super::NonIp::Other));
        }
        let (id, header_len) = (header.service_path(), header.header_len());
        self.enter(header_len, None);
        self.mark_tunnelled(TunnelKind::Nsh, id, (0, 0))?;
        Ok(Step::Next(header.next()))
    }

    fn enter_tunnel(&mut self, entered: Entered) -> Result<Step, Malformed> {
        self.enter(entered.header_len, None);
        self.mark_tunnelled(entered.kind, entered.id, self.ports())?;
        Ok(Step::Next(entered.next))
    }

    fn ports(&self) -> (u16, u16) {
        self.found.as_ref().map_or((0, 0), |found| found.ports)
    }

    /// Marks the content as tunnelled. A quote says nothing about the packet itself.
    fn mark_tunnelled(
        &mut self,
        kind: TunnelKind,
        id: u32,
        ports: (u16, u16),
    ) -> Result<(), Malformed> {
        if self.error.is_none() {
            self.flags = self.flags.with(PacketFlags::TUNNELLED);
            self.watch.tunnel(TunnelLayer {
                kind,
                id,
                addresses: self.network.map(|network| network.addresses()),
                ports,
                inner_offset: offset(self.at)?,
            });
        }
        Ok(())
    }
}

/// The tunnel that runs on `port`, if the payload has its form.
fn of_port(port: u16, payload: &[u8], wire_len: usize) -> Option<Entered> {
    let entered = |kind, id, next, header_len| {
        Some(Entered {
            kind,
            id,
            next,
            header_len,
        })
    };
    match UdpTunnel::on_port(port)? {
        tunnel @ (UdpTunnel::Vxlan | UdpTunnel::VxlanGpe) => {
            // The P bit tells the extension from VXLAN, also on VXLAN's port, where some send it.
            let (id, next) = match VxlanGpeHeader::parse(payload) {
                Ok(header) => (header.network_id(), header.next()),
                Err(_) if tunnel == UdpTunnel::VxlanGpe => return None,
                Err(_) => {
                    let header = VxlanHeader::parse(payload).ok()?;
                    (header.network_id(), header.next())
                }
            };
            entered(TunnelKind::Vxlan, id, next, VxlanHeader::HEADER_LEN)
        }
        UdpTunnel::Geneve => {
            let header = GeneveHeader::parse(payload).ok()?;
            entered(
                TunnelKind::Geneve,
                header.network_id(),
                header.next(),
                header.header_len(),
            )
        }
        UdpTunnel::Gtpu => {
            let header = GtpuHeader::parse(payload, wire_len).ok()?;
            entered(
                TunnelKind::Gtpu,
                header.endpoint_id(),
                header.next(),
                header.header_len(),
            )
        }
        UdpTunnel::L2tp => {
            let header = L2tpHeader::parse(payload, wire_len).ok()?;
            let id = u32::from(header.tunnel_id()) << 16 ^ header.session_id();
            entered(TunnelKind::L2tp, id, header.next(), header.header_len())
        }
        UdpTunnel::Teredo => {
            let header = TeredoHeader::parse(payload, wire_len).ok()?;
            entered(TunnelKind::Teredo, 0, header.next(), header.header_len())
        }
        UdpTunnel::Capwap => {
            let header = CapwapHeader::parse(payload).ok()?;
            entered(TunnelKind::Capwap, 0, header.next(), header.header_len())
        }
        UdpTunnel::Ayiya => {
            let header = AyiyaHeader::parse(payload).ok()?;
            entered(TunnelKind::Ayiya, 0, header.next(), header.header_len())
        }
    }
}

/// Teredo between clients, whatever their ports: without a server there are no indications, and the
/// addresses identify it.
fn of_no_port(payload: &[u8], wire_len: usize) -> Option<Entered> {
    let header = TeredoHeader::parse(payload, wire_len).ok()?;
    header.is_between_clients(wire_len).then(|| Entered {
        kind: TunnelKind::Teredo,
        id: 0,
        next: header.next(),
        header_len: 0,
    })
}

/// GRE, and an ERSPAN header after it.
fn gre(bytes: &[u8]) -> Option<Entered> {
    if let Ok(header) = EoipHeader::parse(bytes) {
        return Some(Entered {
            kind: TunnelKind::Gre,
            id: u32::from(header.tunnel_id()),
            next: header.next(),
            header_len: header.header_len(),
        });
    }
    let header = GreHeader::parse(bytes).ok()?;
    let gre_len = header.header_len();
    let (kind, id, next, header_len) = match header.next() {
        Next::Erspan2 => {
            let inner = Erspan2Header::parse(header.payload()).ok()?;
            (
                TunnelKind::Erspan,
                u32::from(inner.session_id()),
                inner.next(),
                inner.header_len(),
            )
        }
        Next::Erspan3 => {
            let inner = Erspan3Header::parse(header.payload()).ok()?;
            (
                TunnelKind::Erspan,
                u32::from(inner.session_id()),
                inner.next(),
                inner.header_len(),
            )
        }
        next => (TunnelKind::Gre, header.key().unwrap_or(0), next, 0),
    };
    Some(Entered {
        kind,
        id,
        next,
        header_len: gre_len.saturating_add(header_len),
    })
}

fn nsh(bytes: &[u8]) -> Option<Entered> {
    let header = NshHeader::parse(bytes).ok()?;
    let (next, header_len) = (header.next(), header.header_len());
    Some(Entered {
        kind: TunnelKind::Nsh,
        id: header.service_path(),
        next,
        header_len,
    })
}
