//! Whole stacks of headers, each view leading to the next, as a peel loop goes through them.

use super::check_payload;
use super::medium::LINK_TYPES;
use crate::checksum::{PseudoHeader, verify_ipv4_header, verify_transport};
use crate::ip::{Extensions, Ipv4Packet, Ipv6Packet};
use crate::link::{
    CiscoMetadata, EthernetFrame, ExtenderTag, FabricPathTag, LlcHeader, MplsStack, PppFrame,
    PppoeSession, ServiceTag, VlanTag, VnTag,
};
use crate::medium::LinkFrame;
use crate::transport::{IcmpFamily, IcmpMessage, SctpPacket, TcpSegment, UdpDatagram};
use crate::tunnel::{Erspan2Header, Erspan3Header, IpTunnel, NshHeader, TunnelHeader, UdpTunnel};
use crate::{Next, ip_protocol};
use flowpin_packet::Malformed;

/// Follows a frame as deep as it goes. The first byte chooses the link type.
pub fn fuzz_stack(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else {
        return;
    };
    let link = LINK_TYPES
        .get(usize::from(choice) % LINK_TYPES.len())
        .copied()
        .unwrap_or_default();
    let Ok(frame) = LinkFrame::parse(link, bytes) else {
        return;
    };
    let mut next = frame.next();
    let mut rest = frame.payload();
    // A header takes a byte at least, except where one link type stands for another.
    for _ in 0..64 {
        match step(next, rest) {
            Ok(Some((then, payload))) => (next, rest) = (then, payload),
            Ok(None) | Err(_) => return,
        }
    }
}

type Step<'a> = Result<Option<(Next, &'a [u8])>, Malformed>;

/// Takes one header off, and says what follows.
fn step(next: Next, bytes: &[u8]) -> Step<'_> {
    macro_rules! views {
        ($view:expr) => {{
            let view = $view;
            check_payload(bytes, view.header_len(), view.payload());
            Ok(Some((view.next(), view.payload())))
        }};
    }
    match next {
        Next::Ipv4 => ipv4(bytes),
        Next::Ipv6 => ipv6(bytes),
        Next::Ip => Ok(Some((Next::from_ip_version(bytes), bytes))),
        Next::Ethernet => views!(EthernetFrame::parse(bytes)?),
        Next::Llc => views!(LlcHeader::parse(bytes)?),
        Next::Vlan => views!(VlanTag::parse(bytes)?),
        Next::VnTag => views!(VnTag::parse(bytes)?),
        Next::ExtenderTag => views!(ExtenderTag::parse(bytes)?),
        Next::CiscoMetadata => views!(CiscoMetadata::parse(bytes)?),
        Next::ServiceTag => views!(ServiceTag::parse(bytes)?),
        Next::FabricPath => views!(FabricPathTag::parse(bytes)?),
        Next::Mpls => views!(MplsStack::parse(bytes)?),
        Next::PppoeSession => views!(PppoeSession::parse(bytes, bytes.len())?),
        Next::Ppp => views!(PppFrame::parse(bytes)?),
        Next::Nsh => views!(NshHeader::parse(bytes)?),
        Next::Erspan2 => views!(Erspan2Header::parse(bytes)?),
        Next::Erspan3 => views!(Erspan3Header::parse(bytes)?),
        Next::Link(link) => views!(LinkFrame::parse(link, bytes)?),
        Next::Arp | Next::Opaque => Ok(None),
    }
}

fn ipv4(bytes: &[u8]) -> Step<'_> {
    let packet = Ipv4Packet::parse(bytes, bytes.len())?;
    check_payload(bytes, packet.header_len(), packet.payload());
    verify_ipv4_header(&packet);
    if packet.is_fragment() {
        return Ok(None);
    }
    let pseudo = PseudoHeader::v4(packet.source(), packet.final_destination());
    verify_transport(
        pseudo,
        packet.protocol(),
        packet.payload(),
        packet.payload_len(),
    );
    transport(packet.protocol(), packet.payload())
}

fn ipv6(bytes: &[u8]) -> Step<'_> {
    let packet = Ipv6Packet::parse(bytes, bytes.len())?;
    check_payload(bytes, packet.header_len(), packet.payload());
    let len = packet.payload_len() as usize;
    let extensions = Extensions::parse(packet.next_header(), packet.payload(), len)?;
    if extensions.fragment().is_some() {
        return Ok(None);
    }
    let destination = extensions
        .final_destination()
        .unwrap_or(packet.destination());
    let pseudo = PseudoHeader::v6(packet.source(), destination);
    let len = u32::try_from(extensions.payload().len()).unwrap_or(u32::MAX);
    verify_transport(pseudo, extensions.protocol(), extensions.payload(), len);
    transport(extensions.protocol(), extensions.payload())
}

fn transport(protocol: u8, bytes: &[u8]) -> Step<'_> {
    match protocol {
        ip_protocol::ICMP => quoted(bytes, IcmpFamily::V4),
        ip_protocol::ICMPV6 => quoted(bytes, IcmpFamily::V6),
        ip_protocol::TCP => TcpSegment::parse(bytes, bytes.len()).map(|_| None),
        ip_protocol::SCTP => SctpPacket::parse(bytes, bytes.len()).map(|_| None),
        ip_protocol::UDP => udp(bytes),
        _ => match IpTunnel::of_protocol(protocol) {
            Some(tunnel) => inside(tunnel.parse(bytes)?, bytes),
            None => Ok(None),
        },
    }
}

fn quoted(bytes: &[u8], family: IcmpFamily) -> Step<'_> {
    let message = IcmpMessage::parse(bytes, bytes.len(), family)?;
    Ok(message.is_error().then(|| (Next::Ip, message.quoted())))
}

fn udp(bytes: &[u8]) -> Step<'_> {
    let datagram = UdpDatagram::parse(bytes, bytes.len())?;
    let bytes = datagram.payload();
    let len = datagram.payload_len() as usize;
    match UdpTunnel::on_port(datagram.destination()) {
        Some(tunnel) => inside(tunnel.parse(bytes, len)?, bytes),
        None => Ok(None),
    }
}

/// What follows a tunnel's header.
fn inside(header: TunnelHeader, bytes: &[u8]) -> Step<'_> {
    let payload = bytes.get(header.header_len..).unwrap_or_default();
    check_payload(bytes, header.header_len, payload);
    Ok(Some((header.next, payload)))
}
