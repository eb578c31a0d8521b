//! Tunnels: entered only if their header is valid.

use super::{Peel, Step, Watch, offset};
use core::net::IpAddr;
use flowpin_packet::{Malformed, PacketFlags, TunnelKind};
use flowpin_wire::Next;
use flowpin_wire::tunnel::{IpTunnel, NshHeader, TeredoHeader, TunnelHeader, UdpTunnel};

/// One tunnel around a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunnelLayer {
    /// The kind of tunnel.
    pub kind: TunnelKind,
    /// The number in its header, as in [`TunnelHeader`].
    pub id: u32,
    /// Outer source and destination. None for a service header without an IP packet around.
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// Outer UDP ports; 0 for tunnels directly over IP.
    pub ports: (u16, u16),
    /// Length of the outer IP packet, and of its payload behind the UDP header.
    pub outer_lens: (u32, u32),
    /// Where, from the start of the frame, the inner frame or packet starts.
    pub inner_offset: u16,
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
        let of_port = |port, payload, wire_len| {
            let tunnel = UdpTunnel::on_port(port)?;
            tunnel.parse(payload, wire_len).ok()
        };
        let of_ports = |payload, wire_len| {
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
        let tunnel = IpTunnel::of_protocol(protocol);
        let entered = tunnel.and_then(|tunnel| tunnel.parse(self.rest()).ok());
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

    fn enter_tunnel(&mut self, entered: TunnelHeader) -> Result<Step, Malformed> {
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
                outer_lens: self
                    .found
                    .as_ref()
                    .map_or((0, 0), |found| (found.meta.ip_len, found.meta.payload_len)),
                inner_offset: offset(self.at)?,
            });
        }
        Ok(())
    }
}

/// Teredo between clients, whatever their ports: without a server there are no indications, and the
/// addresses identify it.
fn of_no_port(payload: &[u8], wire_len: usize) -> Option<TunnelHeader> {
    let header = TeredoHeader::parse(payload, wire_len).ok()?;
    header.is_between_clients(wire_len).then(|| TunnelHeader {
        kind: TunnelKind::Teredo,
        id: 0,
        next: header.next(),
        header_len: 0,
    })
}
