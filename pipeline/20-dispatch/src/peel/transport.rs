//! Transport headers: where a packet's ports are, and where a tunnel may begin.

use super::{Found, Network, Peel, Step, Watch, offset};
use crate::checksum::{flags_of, is_plain};
use crate::transport::{fingerprint, read_tcp};
use flowpin_packet::{Malformed, PacketKind, PacketMeta, TcpFlags};
use flowpin_wire::checksum::verify_transport;
use flowpin_wire::ip_protocol;
use flowpin_wire::transport::{
    IcmpFamily, IcmpKind, IcmpMessage, Ports, SctpPacket, TcpSegment, UdpDatagram,
};

impl<W: Watch> Peel<'_, W> {
    /// The header of `protocol` starts here.
    pub(super) fn transport(&mut self, network: &Network, protocol: u8) -> Result<Step, Malformed> {
        if network.later_fragment {
            return self.bare(network, protocol);
        }
        let step = match protocol {
            ip_protocol::TCP => self.tcp(network),
            ip_protocol::UDP => self.udp(network),
            ip_protocol::SCTP => self.sctp(network),
            ip_protocol::ICMP if !network.ipv6 => self.icmp(network, IcmpFamily::V4),
            ip_protocol::ICMPV6 if network.ipv6 => self.icmp(network, IcmpFamily::V6),
            _ => return self.other(network, protocol),
        };
        match step {
            // Cut by the capture, or by who quoted it: what is left may still have the ports.
            Err(refused) if self.error.is_some() || self.is_truncation(refused) => {
                self.cut(network, protocol)
            }
            step => step,
        }
    }

    fn tcp(&mut self, network: &Network) -> Result<Step, Malformed> {
        let segment = TcpSegment::parse(self.rest(), self.wire_len())?;
        let ports = (segment.source(), segment.destination());
        let mut found = self.found(network, ip_protocol::TCP, PacketKind::Tcp)?;
        found.ports = ports;
        found.meta.payload_offset = offset(self.at + segment.header_len())?;
        found.meta.payload_len = segment.payload_len();
        read_tcp(&mut found.meta, &segment, network.identification);
        self.verify_odd(&mut found);
        Ok(Step::Packet(found))
    }

    fn udp(&mut self, network: &Network) -> Result<Step, Malformed> {
        let (bytes, wire_len) = (self.rest(), self.wire_len());
        let datagram = if network.unsegmented {
            UdpDatagram::parse_unbounded(bytes, wire_len)?
        } else {
            UdpDatagram::parse(bytes, wire_len)?
        };
        let mut found = self.found(network, ip_protocol::UDP, PacketKind::Udp)?;
        found.ports = (datagram.source(), datagram.destination());
        found.meta.payload_offset = offset(self.at + datagram.header_len())?;
        found.meta.payload_len = datagram.payload_len();
        found.meta.fingerprint = fingerprint(
            datagram.checksum(),
            network.identification,
            found.meta.ip_len,
        );
        self.verify_odd(&mut found);
        let payload_len = datagram.payload_len() as usize;
        self.udp_tunnel(found, datagram.header_len(), payload_len)
    }

    fn sctp(&mut self, network: &Network) -> Result<Step, Malformed> {
        let packet = SctpPacket::parse(self.rest(), self.wire_len())?;
        let mut found = self.found(network, ip_protocol::SCTP, PacketKind::Sctp)?;
        found.ports = (packet.source(), packet.destination());
        found.meta.payload_offset = offset(self.at + packet.header_len())?;
        found.meta.payload_len = packet.payload_len();
        let folded = (packet.checksum() >> 16 ^ packet.checksum()) as u16;
        found.meta.fingerprint = fingerprint(folded, network.identification, found.meta.ip_len);
        self.verify_odd(&mut found);
        Ok(Step::Packet(found))
    }

    fn icmp(&mut self, network: &Network, family: IcmpFamily) -> Result<Step, Malformed> {
        let message = IcmpMessage::parse(self.rest(), self.wire_len(), family)?;
        let protocol = match family {
            IcmpFamily::V4 => ip_protocol::ICMP,
            IcmpFamily::V6 => ip_protocol::ICMPV6,
        };
        let mut found = self.found(network, protocol, PacketKind::Icmp)?;
        // Types of requests and replies share a key; one-way messages have one of their own.
        let (subkind, port) = match message.kind() {
            IcmpKind::Request { .. } => (message.icmp_type(), message.identifier()),
            IcmpKind::Reply { request } => (request, message.identifier()),
            IcmpKind::OneWay | IcmpKind::Error => (message.icmp_type(), u16::from(message.code())),
        };
        found.subkind = subkind;
        found.ports = (port, port);
        found.meta.tcp_flags = TcpFlags(message.icmp_type());
        found.meta.icmp_code = message.code();
        found.meta.payload_offset = offset(self.at + message.header_len())?;
        found.meta.payload_len = message.payload_len();
        found.meta.fingerprint = fingerprint(
            message.checksum(),
            network.identification,
            found.meta.ip_len,
        );
        self.verify_icmp(&mut found);
        // An error within a quote does not occur (RFC 1122 §3.2.2): not followed.
        if message.is_error() && self.error.is_none() {
            return Ok(self.quote(found, &message));
        }
        Ok(Step::Packet(found))
    }

    /// A protocol that is not read, or one that carries others.
    fn other(&mut self, network: &Network, protocol: u8) -> Result<Step, Malformed> {
        let found = self.found(network, protocol, PacketKind::Other)?;
        self.ip_tunnel(found)
    }

    /// A packet known by its addresses and protocol alone.
    pub(super) fn bare(&self, network: &Network, protocol: u8) -> Result<Step, Malformed> {
        Ok(Step::Packet(self.found(
            network,
            protocol,
            PacketKind::Other,
        )?))
    }

    /// A transport header that is not whole: the ports, if they are there.
    fn cut(&self, network: &Network, protocol: u8) -> Result<Step, Malformed> {
        let mut found = self.found(network, protocol, PacketKind::Other)?;
        if matches!(
            protocol,
            ip_protocol::TCP | ip_protocol::UDP | ip_protocol::SCTP
        ) && let Some(ports) = Ports::parse(self.rest())
        {
            found.ports = (ports.source, ports.destination);
        }
        Ok(Step::Packet(found))
    }

    /// A packet whose transport header starts here, without ports.
    fn found(&self, network: &Network, protocol: u8, kind: PacketKind) -> Result<Found, Malformed> {
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
        Ok(Found {
            meta,
            network: *network,
            ports: (0, 0),
            protocol,
            subkind: 0,
        })
    }

    /// Verifies TCP or UDP here if their addresses cannot be found from the descriptor later.
    fn verify_odd(&self, found: &mut Found) {
        if self.verify && !is_plain(&found.meta, found.network.ipv6) {
            self.verify_segment(found);
        }
    }

    fn verify_icmp(&self, found: &mut Found) {
        if self.verify {
            self.verify_segment(found);
        }
    }

    fn verify_segment(&self, found: &mut Found) {
        if self.error.is_some() {
            return;
        }
        let meta = &found.meta;
        let header_len = u32::from(meta.payload_offset.wrapping_sub(meta.l4_offset));
        let len = header_len.saturating_add(meta.payload_len);
        let pseudo = found.network.pseudo_header();
        let verdict = verify_transport(pseudo, meta.protocol, self.rest(), len);
        found.meta.flags = found.meta.flags.with(flags_of(verdict));
    }
}
