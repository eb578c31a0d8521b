//! A trace as a slow, plain reader sees it.

use crate::http::Reader;
use flowpin_testkit::pcap::Capture;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A TCP or UDP packet.
#[derive(Clone, Debug)]
pub(crate) struct Packet<'a> {
    pub(crate) time_ns: u64,
    pub(crate) frame_len: u32,
    pub(crate) protocol: u8,
    pub(crate) source: (IpAddr, u16),
    pub(crate) destination: (IpAddr, u16),
    pub(crate) seq: u32,
    pub(crate) flags: u8,
    pub(crate) data: &'a [u8],
}

pub(crate) const SYN: u8 = 2;
pub(crate) const ACK: u8 = 16;

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// The one's-complement sum of 16-bit words.
fn sum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let mut total: u32 = words
        .map(|w| u32::from(w[0]) << 8 | w.get(1).map_or(0, |&low| u32::from(low)))
        .sum();
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

/// All packets of an Ethernet capture without tunnels or fragments. Checks every checksum.
pub(crate) fn packets(capture: &Capture) -> Vec<Packet<'_>> {
    let parse = |packet| parse(capture, packet);
    capture.packets.iter().map(parse).collect()
}

fn parse<'a>(capture: &'a Capture, packet: &flowpin_testkit::pcap::Packet) -> Packet<'a> {
    let frame = capture.data(packet);
    let mut at = 12;
    while matches!(be16(frame, at), 0x8100 | 0x88a8) {
        at += 4;
    }
    let is_v6 = be16(frame, at) == 0x86dd;
    let ip = &frame[at + 2..];
    let (protocol, source, destination, addresses, transport) = if is_v6 {
        let address = |at: usize| {
            let octets: [u8; 16] = ip[at..at + 16].try_into().unwrap();
            IpAddr::V6(Ipv6Addr::from(octets))
        };
        assert_eq!(usize::from(be16(ip, 4)) + 40, ip.len());
        (ip[6], address(8), address(24), &ip[8..40], &ip[40..])
    } else {
        let address = |at: usize| {
            let octets: [u8; 4] = ip[at..at + 4].try_into().unwrap();
            IpAddr::V4(Ipv4Addr::from(octets))
        };
        assert_eq!(usize::from(be16(ip, 2)), ip.len());
        assert_eq!(sum(&[&ip[..20]]), 0xffff, "IPv4 header");
        (ip[9], address(12), address(16), &ip[12..20], &ip[20..])
    };
    let len = u16::try_from(transport.len()).unwrap().to_be_bytes();
    let total = sum(&[addresses, &[0, protocol], &len, transport]);
    assert_eq!(total, 0xffff, "transport checksum");
    let (seq, flags, data) = if protocol == 6 {
        let seq = u32::from_be_bytes(transport[4..8].try_into().unwrap());
        let header = usize::from(transport[12] >> 4) * 4;
        (seq, transport[13], &transport[header..])
    } else {
        (0, 0, &transport[8..])
    };
    Packet {
        time_ns: packet.time_ns,
        frame_len: packet.wire_len,
        protocol,
        source: (source, be16(transport, 0)),
        destination: (destination, be16(transport, 2)),
        seq,
        flags,
        data,
    }
}

/// What the papers' tables print.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) packet_len: f64,
    pub(crate) connection_rate: f64,
    pub(crate) concurrency: f64,
    pub(crate) straddling: f64,
    pub(crate) chunked: f64,
}

/// Measures a trace without troubles.
pub(crate) fn measure(packets: &[Packet<'_>]) -> Measured {
    let mut connections: HashMap<_, (u64, u64, [Reader; 2])> = HashMap::new();
    let (mut bytes, mut straddling, mut chunked) = (0, 0, 0);
    for packet in packets {
        bytes += u64::from(packet.frame_len);
        let is_swapped = packet.source > packet.destination;
        let ends = if is_swapped {
            (packet.destination, packet.source)
        } else {
            (packet.source, packet.destination)
        };
        let key = (packet.protocol, ends);
        let new = || (packet.time_ns, packet.time_ns, <[Reader; 2]>::default());
        let connection = connections.entry(key).or_insert_with(new);
        connection.1 = packet.time_ns;
        if !packet.data.is_empty() && (packet.source.1 == 80 || packet.destination.1 == 80) {
            let seen = connection.2[usize::from(is_swapped)].read(packet.data);
            straddling += u64::from(seen.straddles);
            chunked += seen.chunked;
        }
    }
    let count = packets.len() as f64;
    let lifetimes: u64 = connections
        .values()
        .map(|(first, last, _)| last - first)
        .sum();
    let first = packets.first().map_or(0, |packet| packet.time_ns);
    let last = packets.last().map_or(1, |packet| packet.time_ns);
    Measured {
        packet_len: bytes as f64 / count,
        connection_rate: connections.len() as f64 * 1000.0 / count,
        concurrency: lifetimes as f64 / (last - first).max(1) as f64,
        straddling: straddling as f64 / count,
        chunked: chunked as f64 / count,
    }
}
