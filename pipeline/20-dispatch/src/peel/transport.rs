//! Transport headers: the ports of a packet, and the start of a possible tunnel.

use super::{Found, Network, NonIp, Peel, Step, Watch, offset};
use crate::transport::checksum::{flags_of, is_verified_later};
use crate::transport::read_tcp;
use flowpin_packet::{Malformed, PacketKind, PacketMeta, TcpFlags};
use flowpin_wire::checksum::verify_transport;
use flowpin_wire::ip_protocol;
use flowpin_wire::transport::{
    IcmpFamily, IcmpKind, IcmpMessage, Ports, SctpPacket, TcpSegment, UdpDatagram,
};

impl<W: Watch> Peel<'_, W> {
    /// The header of `protocol` starts here.
    pub(super) fn transport(&mut self, network: &Network, protocol: u8) -> Result<Step, Malformed> {
        self.watch.transport(protocol, self.at);
        if network.later_fragment {
            return self.bare(network, protocol);
        }
        let step = match protocol {
            ip_protocol::TCP => self.tcp(network),
            ip_protocol::UDP => self.udp(network),
            ip_protocol::SCTP => self.sctp(network),
            ip_protocol::ICMP if !network.ipv6 => self.icmp(network, IcmpFamily::V4),
            ip_protocol::ICMPV6 if network.ipv6 => self.icmp(network, IcmpFamily::V6),
            // RFC 8200 §4.7: nothing follows that counts. In a tunnel (Teredo's bubbles) it keeps
            // the tunnel open: traffic of the tunnel's endpoints.
            ip_protocol::NO_NEXT_HEADER if network.ipv6 && self.found.is_some() => {
                return Ok(Step::NonIp(NonIp::Other));
            }
            _ => return self.other(network, protocol),
        };
        match step {
            // Cut by the capture or by the host that quoted it: the rest may still have the ports.
            Err(refused) if self.error.is_some() || self.is_truncation(refused) => {
                self.cut(network, protocol)
            }
            step => step,
        }
    }

    fn tcp(&mut self, network: &Network) -> Result<Step, Malformed> {
        let segment = TcpSegment::parse(self.rest(), self.wire_len())?;
        let payload_offset = offset(self.at + segment.header_len())?;
        let found = self.find(network, ip_protocol::TCP, PacketKind::Tcp)?;
        found.ports = (segment.source(), segment.destination());
        found.meta.payload_offset = payload_offset;
        found.meta.payload_len = segment.payload_len();
        read_tcp(&mut found.meta, &segment, network.identification);
        self.verify_unless_later();
        Ok(Step::Packet)
    }

    fn udp(&mut self, network: &Network) -> Result<Step, Malformed> {
        let (bytes, wire_len) = (self.rest(), self.wire_len());
        let datagram = if network.unsegmented {
            UdpDatagram::parse_unbounded(bytes, wire_len)?
        } else {
            UdpDatagram::parse(bytes, wire_len)?
        };
        let payload_offset = offset(self.at + datagram.header_len())?;
        let found = self.find(network, ip_protocol::UDP, PacketKind::Udp)?;
        found.ports = (datagram.source(), datagram.destination());
        found.meta.payload_offset = payload_offset;
        found.meta.payload_len = datagram.payload_len();
        found.read_checksum(datagram.checksum());
        self.verify_unless_later();
        self.udp_tunnel(datagram.header_len(), datagram.payload_len() as usize)
    }

    fn sctp(&mut self, network: &Network) -> Result<Step, Malformed> {
        let packet = SctpPacket::parse(self.rest(), self.wire_len())?;
        let payload_offset = offset(self.at + packet.header_len())?;
        let found = self.find(network, ip_protocol::SCTP, PacketKind::Sctp)?;
        found.ports = (packet.source(), packet.destination());
        found.meta.payload_offset = payload_offset;
        found.meta.payload_len = packet.payload_len();
        found.read_checksum((packet.checksum() >> 16 ^ packet.checksum()) as u16);
        self.verify_unless_later();
        Ok(Step::Packet)
    }

    fn icmp(&mut self, network: &Network, family: IcmpFamily) -> Result<Step, Malformed> {
        let message = IcmpMessage::parse(self.rest(), self.wire_len(), family)?;
        let protocol = match family {
            IcmpFamily::V4 => ip_protocol::ICMP,
            IcmpFamily::V6 => ip_protocol::ICMPV6,
        };
        let payload_offset = offset(self.at + message.header_len())?;
        let found = self.find(network, protocol, PacketKind::Icmp)?;
        // Requests and replies share a key; one-way messages have one of their own.
        let (subkind, port) = match message.kind() {
            IcmpKind::Request { .. } => (message.icmp_type(), message.identifier()),
            IcmpKind::Reply { request } => (request, message.identifier()),
            IcmpKind::OneWay | IcmpKind::Error => (message.icmp_type(), u16::from(message.code())),
        };
        found.subkind = subkind;
        found.ports = (port, port);
        found.meta.tcp_flags = TcpFlags(message.icmp_type());
        found.meta.icmp_code = message.code();
        found.meta.payload_offset = payload_offset;
        found.meta.payload_len = message.payload_len();
        found.read_checksum(message.checksum());
        if self.verify {
            self.verify_segment();
        }
        // An error does not quote an error (RFC 1122 §3.2.2): not followed.
        if message.is_error() && self.error.is_none() {
            return Ok(self.quote(&message));
        }
        Ok(Step::Packet)
    }

    /// A protocol without a parser here, or one that carries others.
    fn other(&mut self, network: &Network, protocol: u8) -> Result<Step, Malformed> {
        self.find(network, protocol, PacketKind::Other)?;
        self.ip_tunnel(protocol)
    }

    /// A packet identified by its addresses and protocol alone.
    pub(super) fn bare(&mut self, network: &Network, protocol: u8) -> Result<Step, Malformed> {
        self.find(network, protocol, PacketKind::Other)?;
        Ok(Step::Packet)
    }

    /// An incomplete transport header: the ports, if they are there.
    fn cut(&mut self, network: &Network, protocol: u8) -> Result<Step, Malformed> {
        let ports = match protocol {
            ip_protocol::TCP | ip_protocol::UDP | ip_protocol::SCTP => Ports::parse(self.rest()),
            _ => None,
        };
        let found = self.find(network, protocol, PacketKind::Other)?;
        if let Some(ports) = ports {
            found.ports = (ports.source, ports.destination);
        }
        Ok(Step::Packet)
    }

    /// Records a packet whose transport header starts here, without ports, as the innermost so far.
    fn find(
        &mut self,
        network: &Network,
        protocol: u8,
        kind: PacketKind,
    ) -> Result<&mut Found, Malformed> {
        let l4_offset = offset(self.at)?;
        let wire_len = self.wire_end.saturating_sub(self.at);
        let meta = PacketMeta {
            ip_len: network.ip_len,
            payload_len: u32::try_from(wire_len).unwrap_or(u32::MAX),
            l3_offset: network.l3,
            l4_offset,
            payload_offset: l4_offset,
            kind,
            protocol,
            flags: self.flags,
            ..PacketMeta::default()
        };
        let found = Found {
            meta,
            network: *network,
            ports: (0, 0),
            protocol,
            subkind: 0,
        };
        Ok(self.found.insert(found))
    }

    /// Verifies the checksum here if the descriptor alone does not allow that later.
    fn verify_unless_later(&mut self) {
        let is_now = |found: &Found| !is_verified_later(&found.meta, found.network.ipv6);
        if self.verify && self.found.as_ref().is_some_and(is_now) {
            self.verify_segment();
        }
    }

    fn verify_segment(&mut self) {
        let segment = self.rest();
        if self.error.is_some() {
            return;
        }
        if let Some(found) = &mut self.found {
            let meta = &mut found.meta;
            let header_len = u32::from(meta.payload_offset.wrapping_sub(meta.l4_offset));
            let len = header_len.saturating_add(meta.payload_len);
            let pseudo = found.network.pseudo_header();
            let verdict = verify_transport(pseudo, meta.protocol, segment, len);
            meta.flags = meta.flags.with(flags_of(verdict));
        }
    }
}
