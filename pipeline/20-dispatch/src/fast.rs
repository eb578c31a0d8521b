//! The straight line: Ethernet with up to two tags, IPv4 or IPv6, TCP or UDP, nothing odd.
//!
//! ```text
//!  14 (+4, +8)      20..60 or 40         20.. or 8
//!  │ Ethernet, tags │ IPv4 or IPv6 header │ TCP or UDP header │ payload
//!                   l3                    l4                  payload
//! ```
//!
//! Nearly all packets of nearly all captures are of this form. For those the descriptor is filled
//! without a call and with branches that go one way. At the first sign of anything else `None` is
//! returned and the peel loop starts from the beginning; it gives the same answer for packets that
//! this one accepts (property test in `tests.rs`), so nothing is decided here.

use crate::hash::Hasher;
use crate::key::{ipv4_key, ipv6_key};
use crate::ports::may_be_tunnel;
use crate::transport::fingerprint;
use flowpin_packet::{
    FlowKey, Frame, PacketFlags, PacketKind, PacketMeta, Seq, TcpFlags, Timestamp,
};
use flowpin_wire::{ether_type, ip_protocol};

/// What the caller knows of the packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) number: u64,
    pub(crate) stream_time: Timestamp,
}

/// What the network header says.
struct Network {
    key_ports: [u8; 4],
    ip_len: u32,
    l4: usize,
    protocol: u8,
    identification: u16,
}

/// Fills `meta` if the frame is of the plain form.
///
/// With `DECODE` off, TCP's numbers stay unread ([`PacketFlags::UNDECODED`]); they are validated
/// all the same, so that reading them later cannot fail.
#[inline]
pub(crate) fn describe<const DECODE: bool>(
    captured: &[u8],
    frame: &Frame,
    origin: Origin,
    hasher: &Hasher,
    verify_ip: bool,
    meta: &mut PacketMeta,
) -> Option<()> {
    let header: &[u8; 14] = captured.first_chunk()?;
    let mut kind = u16::from_be_bytes([header[12], header[13]]);
    let mut l3 = 14;
    if kind == ether_type::VLAN || kind == ether_type::SERVICE_VLAN {
        (l3, kind) = behind_tags(captured)?;
    }
    let packet = captured.get(l3..)?;
    let wire_rest = (frame.wire_len as usize).checked_sub(l3)?;
    let (network, key, hash, mut flags) = match kind {
        ether_type::IPV4 => ipv4(packet, wire_rest, hasher, verify_ip)?,
        ether_type::IPV6 => ipv6(packet, wire_rest, hasher)?,
        _ => return None,
    };
    flags |= bit(frame.captured_len < frame.wire_len, PacketFlags::SNAPPED)
        | bit(frame.time < origin.stream_time, PacketFlags::OUT_OF_ORDER)
        | bit(l3 != 14, PacketFlags::VLAN);
    let transport = transport::<DECODE>(packet, &network)?;
    flags |= bit(!DECODE, PacketFlags::UNDECODED);
    // Offsets are below 22 + 60 + 60.
    *meta = PacketMeta {
        key,
        time: frame.time,
        stream_time: origin.stream_time,
        number: origin.number,
        hash,
        frame_start: frame.start,
        captured_len: frame.captured_len,
        wire_len: frame.wire_len,
        ip_len: network.ip_len,
        payload_len: transport.payload_len,
        seq: transport.seq,
        ack: transport.ack,
        fingerprint: transport.fingerprint,
        window: transport.window,
        l3_offset: l3 as u16,
        l4_offset: (l3 + network.l4) as u16,
        payload_offset: (l3 + network.l4 + transport.header_len) as u16,
        tcp_flags: transport.flags,
        icmp_code: 0,
        kind: transport.kind,
        protocol: network.protocol,
        flags: PacketFlags(flags),
        link: frame.link,
    };
    Some(())
}

/// Where the network header starts behind one or two tags, and its type.
#[inline]
fn behind_tags(captured: &[u8]) -> Option<(usize, u16)> {
    let tags: &[u8; 22] = captured.first_chunk()?;
    let inner = u16::from_be_bytes([tags[16], tags[17]]);
    if inner == ether_type::VLAN {
        Some((22, u16::from_be_bytes([tags[20], tags[21]])))
    } else {
        Some((18, inner))
    }
}

/// An unfragmented IPv4 packet: network, key, hash, flags.
#[inline]
fn ipv4(
    packet: &[u8],
    wire_rest: usize,
    hasher: &Hasher,
    verify: bool,
) -> Option<(Network, FlowKey, u32, u16)> {
    let h: &[u8; 20] = packet.first_chunk()?;
    let header_len = usize::from(h[0].wrapping_sub(0x40)) << 2;
    let ip_len = usize::from(u16::from_be_bytes([h[2], h[3]]));
    let fragment = u16::from_be_bytes([h[6], h[7]]) & 0x3fff;
    // One test for version 4 and IHL 5 to 15; `ip_len` 0 is below any header's length.
    if !(20..=60).contains(&header_len) || ip_len > wire_rest || fragment != 0 {
        return None;
    }
    if verify && !ipv4_checksum_holds(packet, h, header_len) {
        return None;
    }
    let source = u32::from_be_bytes([h[12], h[13], h[14], h[15]]);
    let destination = u32::from_be_bytes([h[16], h[17], h[18], h[19]]);
    let ports: &[u8; 4] = packet.get(header_len..)?.first_chunk()?;
    let (from, to) = both_ports(*ports);
    let (key, high_to_low) = ipv4_key(source, destination, from, to, h[9], 0);
    let network = Network {
        key_ports: *ports,
        ip_len: ip_len as u32,
        l4: header_len,
        protocol: h[9],
        identification: u16::from_be_bytes([h[4], h[5]]),
    };
    let flags = bit(high_to_low, PacketFlags::HIGH_TO_LOW);
    Some((network, key, hasher.ipv4(key), flags))
}

/// An IPv6 packet without extension headers.
#[inline]
fn ipv6(
    packet: &[u8],
    wire_rest: usize,
    hasher: &Hasher,
) -> Option<(Network, FlowKey, u32, u16)> {
    let h: &[u8; 44] = packet.first_chunk()?;
    let payload_len = usize::from(u16::from_be_bytes([h[4], h[5]]));
    // A payload length of 0 is below any transport header's length.
    if h[0] >> 4 != 6 || payload_len + 40 > wire_rest {
        return None;
    }
    let source = u128::from_be_bytes(*h[8..24].first_chunk()?);
    let destination = u128::from_be_bytes(*h[24..40].first_chunk()?);
    let ports = [h[40], h[41], h[42], h[43]];
    let (from, to) = both_ports(ports);
    let (key, high_to_low, low, high) = ipv6_key(source, destination, from, to, h[6], 0);
    let network = Network {
        key_ports: ports,
        ip_len: (payload_len + 40) as u32,
        l4: 40,
        protocol: h[6],
        identification: 0,
    };
    let flags = bit(high_to_low, PacketFlags::HIGH_TO_LOW) | PacketFlags::IPV6.0;
    Some((network, key, hasher.ipv6(key, low, high), flags))
}

/// What the transport header says.
struct Transport {
    kind: PacketKind,
    header_len: usize,
    payload_len: u32,
    seq: Seq,
    ack: Seq,
    window: u16,
    flags: TcpFlags,
    fingerprint: u32,
}

#[inline]
fn transport<const DECODE: bool>(packet: &[u8], network: &Network) -> Option<Transport> {
    let bytes = packet.get(network.l4..)?;
    let wire_len = (network.ip_len as usize).checked_sub(network.l4)?;
    match network.protocol {
        ip_protocol::TCP => {
            let h: &[u8; 20] = bytes.first_chunk()?;
            let header_len = usize::from(h[12] >> 4) << 2;
            if header_len < 20 {
                return None;
            }
            let payload_len = wire_len.checked_sub(header_len)? as u32;
            if !DECODE {
                return Some(Transport { header_len, payload_len, ..Transport::of(PacketKind::Tcp) });
            }
            let checksum = u16::from_be_bytes([h[16], h[17]]);
            Some(Transport {
                kind: PacketKind::Tcp,
                header_len,
                payload_len,
                seq: Seq(u32::from_be_bytes([h[4], h[5], h[6], h[7]])),
                ack: Seq(u32::from_be_bytes([h[8], h[9], h[10], h[11]])),
                window: u16::from_be_bytes([h[14], h[15]]),
                flags: TcpFlags(h[13]),
                fingerprint: fingerprint(checksum, network.identification, network.ip_len),
            })
        }
        ip_protocol::UDP => {
            let h: &[u8; 8] = bytes.first_chunk()?;
            let length = usize::from(u16::from_be_bytes([h[4], h[5]]));
            let (from, to) = both_ports(network.key_ports);
            if length < 8 || length > wire_len || may_be_tunnel(from, to) {
                return None;
            }
            let checksum = u16::from_be_bytes([h[6], h[7]]);
            let fingerprint = fingerprint(checksum, network.identification, network.ip_len);
            Some(Transport {
                header_len: 8,
                payload_len: (length - 8) as u32,
                fingerprint: if DECODE { fingerprint } else { 0 },
                ..Transport::of(PacketKind::Udp)
            })
        }
        _ => None,
    }
}

impl Transport {
    #[inline]
    fn of(kind: PacketKind) -> Self {
        Self {
            kind,
            header_len: 0,
            payload_len: 0,
            seq: Seq(0),
            ack: Seq(0),
            window: 0,
            flags: TcpFlags(0),
            fingerprint: 0,
        }
    }
}

/// Whether the header's checksum holds. Headers with options are rare: left to the slow path.
#[inline]
fn ipv4_checksum_holds(packet: &[u8], header: &[u8; 20], header_len: usize) -> bool {
    if header_len != 20 {
        return crate::checksum::ipv4_header_holds(packet.get(..header_len).unwrap_or_default());
    }
    crate::checksum::holds(crate::checksum::sum(header))
}

#[inline]
const fn both_ports(bytes: [u8; 4]) -> (u16, u16) {
    let [a, b, c, d] = bytes;
    (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
}

/// `flag`'s bit if `set`, without a branch.
#[inline]
const fn bit(set: bool, flag: PacketFlags) -> u16 {
    (set as u16) * flag.0
}
