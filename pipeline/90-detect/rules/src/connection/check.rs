//! Whether a rule's header and conditions hold: all but what it asks of buffers.

use super::fields::{checksum_holds, has_ip_option, number_holds};
use super::occasion::Occasion;
use super::state::Connection;
use crate::database::Compiled;
use core::net::{IpAddr, Ipv4Addr};
use flowpin_packet::{PacketFlags, PacketKind};
use flowpin_rule::{
    BitAction, Condition, FlowCheck, FlowSide, Header, NumberCheck, Protocol, ReputationOf, Rule,
    buffer,
};

/// Whether a rule's header and conditions hold.
pub(super) fn fits(
    compiled: &Compiled,
    rule: &Rule,
    connection: &Connection,
    occasion: &Occasion<'_>,
) -> bool {
    compiled
        .direction
        .is_none_or(|one| one == occasion.to_server)
        && (compiled.apps == 0 || connection.apps & compiled.apps != 0)
        && (compiled.not_apps == 0
            || connection.has(Connection::KNOWN) && connection.apps & compiled.not_apps == 0)
        && compiled.of_time.iter().all(|&(when, apps, negated)| {
            connection.has(Connection::KNOWN) && (connection.spoken(when) & apps != 0) != negated
        })
        && (compiled.event == 0 || connection.odd & compiled.event != 0)
        && protocol_fits(&rule.header.protocol, occasion)
        && (rule.header.transport).is_none_or(|one| one == occasion.ends.protocol)
        // PERF: what costs the least first; addresses of large sets cost the most.
        && flow_fits(&rule.flow, connection, occasion)
        && rule.conditions.iter().all(|one| match one {
            // It has happened since the message before.
            Condition::Event(..) if compiled.event != 0 => true,
            one => condition_holds(one, connection, occasion),
        })
        && header_fits(&rule.header, occasion)
}

fn protocol_fits(protocol: &Protocol, occasion: &Occasion<'_>) -> bool {
    let spoken = occasion.ends.protocol;
    match protocol {
        Protocol::Ip | Protocol::App(_) => true,
        Protocol::Tcp | Protocol::TcpPacket | Protocol::TcpStream => spoken == 6,
        Protocol::Udp => spoken == 17,
        Protocol::Sctp => spoken == 132,
        Protocol::Icmp => spoken == 1 || spoken == 58,
        Protocol::IpVersion(version) => (*version == 4) == occasion.ends.client.0.is_ipv4(),
    }
}

fn header_fits(header: &Header, occasion: &Occasion<'_>) -> bool {
    let has_ports = matches!(occasion.ends.protocol, 6 | 17 | 132);
    let one_way = |from: (IpAddr, u16), to: (IpAddr, u16)| {
        (!has_ports
            || header.source_ports.contains(from.1) && header.destination_ports.contains(to.1))
            && header.source.contains(from.0)
            && header.destination.contains(to.0)
    };
    let (from, to) = occasion.ends();
    one_way(from, to) || header.both_ways && one_way(to, from)
}

fn flow_fits(flow: &FlowCheck, connection: &Connection, occasion: &Occasion<'_>) -> bool {
    let fragments = occasion
        .packet
        .map(|packet| packet.meta.flags.has(PacketFlags::REASSEMBLED));
    flow.established
        .is_none_or(|is| is == connection.has(Connection::ESTABLISHED))
        && flow
            .only_fragments
            .is_none_or(|is| fragments.is_none_or(|was| was == is))
}

/// Whether numbers of the client and of the server hold.
fn of_sides(side: FlowSide, numbers: [u64; 2], check: NumberCheck) -> bool {
    let [client, server] = numbers.map(|number| check.holds(number));
    match side {
        FlowSide::Client => client,
        FlowSide::Server => server,
        FlowSide::Both => client && server,
        FlowSide::Either => client || server,
    }
}

fn condition_holds(
    condition: &Condition,
    connection: &Connection,
    occasion: &Occasion<'_>,
) -> bool {
    let packet = occasion.packet;
    let number = |found: Option<u64>, check: NumberCheck| found.is_some_and(|one| check.holds(one));
    let tcp = packet.filter(|packet| packet.meta.kind == PacketKind::Tcp);
    match condition {
        Condition::Flags(check) => tcp.is_some_and(|packet| check.holds(packet.meta.tcp_flags.0)),
        Condition::PayloadSize(check) => {
            number(packet.map(|packet| packet.meta.payload_len.into()), *check)
        }
        Condition::Ttl(check) => number(packet.and_then(|packet| packet.ttl()), *check),
        Condition::Tos(check) => number(packet.and_then(|packet| packet.tos()), *check),
        Condition::Id(check) => number(packet.and_then(|packet| packet.id()), *check),
        Condition::IpProtocol(check) => check.holds(occasion.ends.protocol.into()),
        Condition::SameIp => occasion.ends.client.0 == occasion.ends.server.0,
        Condition::Fragments(check) => {
            let bits = packet.and_then(|packet| packet.fragment());
            bits.is_some_and(|(bits, _)| check.holds(bits))
        }
        Condition::FragmentOffset(check) => {
            let offset = packet.and_then(|packet| packet.fragment());
            number(offset.map(|(_, offset)| offset), *check)
        }
        Condition::Seq(check) => number(tcp.map(|packet| packet.meta.seq.0.into()), *check),
        Condition::Ack(check) => number(tcp.map(|packet| packet.meta.ack.0.into()), *check),
        Condition::Window(check) => number(tcp.map(|packet| packet.meta.window.into()), *check),
        Condition::IcmpType(check) => number(
            packet.and_then(|packet| packet.icmp()).map(|icmp| icmp.0),
            *check,
        ),
        Condition::IcmpCode(check) => number(
            packet.and_then(|packet| packet.icmp()).map(|icmp| icmp.1),
            *check,
        ),
        Condition::IcmpId(check) => number(
            packet
                .and_then(|packet| packet.icmp_echo())
                .map(|echo| echo.0),
            *check,
        ),
        Condition::IcmpSeq(check) => number(
            packet
                .and_then(|packet| packet.icmp_echo())
                .map(|echo| echo.1),
            *check,
        ),
        Condition::StreamSize(side, check) => {
            let sizes = connection.sides.map(|one| one.end());
            of_sides(*side, sizes, *check)
        }
        Condition::FlowPackets(side, check) => of_sides(*side, connection.packets, *check),
        Condition::FlowBytes(side, check) => of_sides(*side, connection.bytes, *check),
        Condition::FlowAge(check) => {
            // Between seconds of the clock, as in Suricata.
            let second = |nanos: u64| nanos / 1_000_000_000;
            let now = packet.map(|packet| second(packet.meta.stream_time.0));
            number(
                now.map(|now| now.saturating_sub(second(connection.begin_ns))),
                *check,
            )
        }
        Condition::Header(which, check) => {
            packet.is_some_and(|packet| number_holds(packet, *which, *check))
        }
        Condition::IpOption(kind) => packet.is_some_and(|packet| has_ip_option(packet, *kind)),
        Condition::IpVersion(version) => (*version == 4) == occasion.ends.client.0.is_ipv4(),
        Condition::Checksum(of, is_right) => {
            packet.is_some_and(|packet| checksum_holds(packet, *of, *is_right))
        }
        Condition::Reputation { of, scores, check } => {
            let (from, to) = occasion.ends();
            let [from, to] = [from.0, to.0].map(|one| check.holds(scores.of(one).into()));
            match of {
                ReputationOf::Any => from || to,
                ReputationOf::Source => from,
                ReputationOf::Destination => to,
                ReputationOf::Both => from && to,
            }
        }
        Condition::FtpBounce => is_bounce(occasion),
        Condition::Event(of, name) => occasion.odd.is_some_and(|odd| odd.is(*of, name)),
        // Among the bits of what the connection speaks; at the merge.
        Condition::AppProtocol { .. } | Condition::HostBit { .. } => true,
        Condition::FlowBit(BitAction::IsSet, bits) => {
            bits.iter().any(|&bit| connection.is_set(bit))
        }
        Condition::FlowBit(BitAction::IsNotSet, bits) => {
            bits.iter().any(|&bit| !connection.is_set(bit))
        }
        Condition::FlowBit(..) => true,
        Condition::FlowInt {
            name,
            operation,
            value,
        } => connection.int_holds(*name, *operation, *value),
    }
}

/// Whether FTP's `PORT` (RFC 959 §4.1.2) names another address than the client's.
fn is_bounce(occasion: &Occasion<'_>) -> bool {
    let argument = buffer("ftp.command_data").and_then(|(id, _)| occasion.buffers(id, None).next());
    let parts = argument.map(|argument| argument.split(|&byte| byte == b','));
    let mut octets = [0; 4];
    let mut count = 0;
    for (place, part) in octets.iter_mut().zip(parts.into_iter().flatten()) {
        let digits = core::str::from_utf8(part.trim_ascii()).ok();
        let Some(octet) = digits.and_then(|digits| digits.parse().ok()) else {
            return false;
        };
        *place = octet;
        count += 1;
    }
    count == 4 && occasion.ends.client.0 != IpAddr::V4(Ipv4Addr::from(octets))
}
