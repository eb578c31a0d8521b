//! The main fields of each header, as text.

use super::What;
use core::net::{Ipv4Addr, Ipv6Addr};
use flowpin_packet::TcpFlags;
use flowpin_wire::Next;
use flowpin_wire::ip::{Ipv4Packet, Ipv6Packet};
use flowpin_wire::ip_protocol;
use flowpin_wire::link::{EthernetFrame, MplsStack, VlanTag};
use flowpin_wire::transport::{
    IcmpFamily, IcmpMessage, SctpPacket, TcpOption, TcpSegment, UdpDatagram,
};

type Fields = Vec<(&'static str, String)>;

/// The fields of the header that starts here; none of one that cannot be read.
pub(super) fn of(what: What, bytes: &[u8]) -> Fields {
    match what {
        What::Layer(Next::Ethernet) => ethernet(bytes),
        What::Layer(Next::Vlan) => VlanTag::parse(bytes)
            .map(|tag| {
                let id = ("id", tag.vlan_id().to_string());
                vec![id, ("type", hex(tag.type_or_length()))]
            })
            .unwrap_or_default(),
        What::Layer(Next::Mpls) => MplsStack::parse(bytes)
            .map(|stack| {
                let label = stack.top().label().to_string();
                vec![("label", label), ("labels", stack.depth().to_string())]
            })
            .unwrap_or_default(),
        What::Layer(Next::Link(link)) => vec![("type", format!("{link:?}"))],
        What::Layer(Next::Ipv4) => ipv4(bytes),
        What::Layer(Next::Ipv6) => ipv6(bytes),
        What::Layer(_) => Fields::new(),
        What::Tunnel(_, 0) => Fields::new(),
        What::Tunnel(_, id) => vec![("id", id.to_string())],
        What::Transport(protocol) => transport(protocol, bytes),
    }
}

/// Where the last header ends if what follows it is not known: with what its view read.
pub(super) fn end(what: What, frame: &[u8], at: usize) -> usize {
    let rest = frame.get(at..).unwrap_or_default();
    let len = match what {
        What::Layer(Next::Ethernet) => EthernetFrame::parse(rest).map(|one| one.header_len()),
        What::Layer(Next::Vlan) => VlanTag::parse(rest).map(|one| one.header_len()),
        What::Layer(Next::Ipv4) => Ipv4Packet::parse(rest, ANY_LEN).map(|one| one.header_len()),
        What::Layer(Next::Ipv6) => Ipv6Packet::parse(rest, ANY_LEN).map(|one| one.header_len()),
        _ => Ok(rest.len()),
    };
    at.saturating_add(len.unwrap_or(rest.len()))
}

fn ethernet(bytes: &[u8]) -> Fields {
    let Ok(frame) = EthernetFrame::parse(bytes) else {
        return Fields::new();
    };
    vec![
        ("source", mac(frame.source())),
        ("destination", mac(frame.destination())),
        ("type", hex(frame.type_or_length())),
    ]
}

fn ipv4(bytes: &[u8]) -> Fields {
    let Ok(packet) = Ipv4Packet::parse(bytes, ANY_LEN) else {
        return Fields::new();
    };
    let mut fields = vec![
        ("source", Ipv4Addr::from(packet.source()).to_string()),
        (
            "destination",
            Ipv4Addr::from(packet.destination()).to_string(),
        ),
        ("protocol", packet.protocol().to_string()),
        ("ttl", packet.time_to_live().to_string()),
        ("id", packet.identification().to_string()),
        ("length", packet.packet_len().to_string()),
    ];
    if packet.is_fragment() {
        fields.push(("fragment_offset", packet.fragment_offset().to_string()));
        fields.push(("more_fragments", packet.more_fragments().to_string()));
    }
    if !packet.options().is_empty() {
        fields.push(("option_bytes", packet.options().len().to_string()));
    }
    fields
}

fn ipv6(bytes: &[u8]) -> Fields {
    let Ok(packet) = Ipv6Packet::parse(bytes, ANY_LEN) else {
        return Fields::new();
    };
    vec![
        ("source", Ipv6Addr::from(packet.source()).to_string()),
        (
            "destination",
            Ipv6Addr::from(packet.destination()).to_string(),
        ),
        ("next_header", packet.next_header().to_string()),
        ("hop_limit", packet.hop_limit().to_string()),
        ("length", packet.packet_len().to_string()),
    ]
}

fn transport(protocol: u8, bytes: &[u8]) -> Fields {
    match protocol {
        ip_protocol::TCP => tcp(bytes),
        ip_protocol::UDP => UdpDatagram::parse(bytes, ANY_LEN)
            .map(|datagram| {
                let mut fields = ports(datagram.source(), datagram.destination());
                fields.push(("length", datagram.length().to_string()));
                fields
            })
            .unwrap_or_default(),
        ip_protocol::SCTP => SctpPacket::parse(bytes, ANY_LEN)
            .map(|packet| {
                let mut fields = ports(packet.source(), packet.destination());
                fields.push(("tag", packet.verification_tag().to_string()));
                fields
            })
            .unwrap_or_default(),
        ip_protocol::ICMP => icmp(bytes, IcmpFamily::V4),
        ip_protocol::ICMPV6 => icmp(bytes, IcmpFamily::V6),
        other => vec![("protocol", other.to_string())],
    }
}

fn tcp(bytes: &[u8]) -> Fields {
    let Ok(segment) = TcpSegment::parse(bytes, ANY_LEN) else {
        return Fields::new();
    };
    let mut fields = ports(segment.source(), segment.destination());
    fields.push(("flags", flags(segment.flags())));
    fields.push(("seq", segment.seq().0.to_string()));
    fields.push(("ack", segment.ack().0.to_string()));
    fields.push(("window", segment.window().to_string()));
    let options: Vec<String> = segment.options().map(|one| option(&one)).collect();
    if !options.is_empty() {
        fields.push(("options", options.join(" ")));
    }
    fields
}

fn option(option: &TcpOption<'_>) -> String {
    match option {
        TcpOption::MaximumSegmentSize(mss) => format!("mss={mss}"),
        TcpOption::WindowScale(shift) => format!("scale={shift}"),
        TcpOption::SackPermitted => "sack_permitted".to_owned(),
        TcpOption::Timestamps(own, echo) => format!("timestamps={own}/{echo}"),
        TcpOption::FastOpen(_) => "fast_open".to_owned(),
        TcpOption::Sack(_) => "sack".to_owned(),
        TcpOption::Other(kind, ..) => format!("option={kind}"),
    }
}

fn icmp(bytes: &[u8], family: IcmpFamily) -> Fields {
    IcmpMessage::parse(bytes, ANY_LEN, family)
        .map(|message| {
            let code = ("code", message.code().to_string());
            vec![("type", message.icmp_type().to_string()), code]
        })
        .unwrap_or_default()
}

fn ports(source: u16, destination: u16) -> Fields {
    vec![
        ("source_port", source.to_string()),
        ("destination_port", destination.to_string()),
    ]
}

/// The names of TCP's control bits that are set.
fn flags(flags: TcpFlags) -> String {
    let names = [
        (TcpFlags::SYN, "SYN"),
        (TcpFlags::FIN, "FIN"),
        (TcpFlags::RST, "RST"),
        (TcpFlags::PSH, "PSH"),
        (TcpFlags::ACK, "ACK"),
        (TcpFlags::URG, "URG"),
        (TcpFlags::ECE, "ECE"),
        (TcpFlags::CWR, "CWR"),
    ];
    let set = names.iter().filter(|(flag, _)| flags.has(*flag));
    let set: Vec<&str> = set.map(|(_, name)| *name).collect();
    set.join(" ")
}

fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}

fn hex(number: u16) -> String {
    format!("0x{number:04x}")
}

/// Lengths were checked when the packet was accepted, and may be wrong in one that was not.
const ANY_LEN: usize = u32::MAX as usize;
