//! The straight line: Ethernet with up to two tags, IPv4 without options or IPv6, TCP or UDP.
//!
//! ```text
//!  14 (+4, +8)      20 or 40             20.. or 8
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
use flowpin_packet::{Frame, PacketFlags, PacketKind, PacketMeta, Seq, TcpFlags, Timestamp};
use flowpin_wire::checksum::Sum;
use flowpin_wire::{ether_type, ip_protocol};

/// What the caller knows of the packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) number: u64,
    pub(crate) stream_time: Timestamp,
}

/// What the network header says that the transport header needs.
struct Network {
    header_len: usize,
    ip_len: usize,
    protocol: u8,
    identification: u16,
    flags: u16,
}

/// Fills `meta` if the frame is of the plain form; leaves anything in it otherwise.
///
/// With `DECODE` off, TCP's numbers stay unread ([`PacketFlags::UNDECODED`]); they are validated
/// all the same, so that reading them later cannot fail.
// PERF: fields are stored as soon as they are known. Carrying them to the end in a struct costs
// a quarter more instructions, because twenty values do not fit into the registers.
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
    let network = match kind {
        ether_type::IPV4 => ipv4(packet, wire_rest, hasher, verify_ip, meta)?,
        ether_type::IPV6 => ipv6(packet, wire_rest, hasher, meta)?,
        _ => return None,
    };
    let l4 = l3 + network.header_len;
    let header_len = transport::<DECODE>(packet, &network, meta)?;
    // Offsets are below 22 + 40 + 60.
    meta.l3_offset = l3 as u16;
    meta.l4_offset = l4 as u16;
    meta.payload_offset = (l4 + header_len) as u16;
    meta.icmp_code = 0;
    meta.protocol = network.protocol;
    meta.flags = PacketFlags(
        network.flags
            | bit(frame.captured_len < frame.wire_len, PacketFlags::SNAPPED)
            | bit(frame.time < origin.stream_time, PacketFlags::OUT_OF_ORDER)
            | bit(l3 != 14, PacketFlags::VLAN)
            | bit(!DECODE, PacketFlags::UNDECODED),
    );
    meta.time = frame.time;
    meta.stream_time = origin.stream_time;
    meta.number = origin.number;
    meta.frame_start = frame.start;
    meta.captured_len = frame.captured_len;
    meta.wire_len = frame.wire_len;
    meta.link = frame.link;
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

/// An unfragmented IPv4 packet.
#[inline]
fn ipv4(
    packet: &[u8],
    wire_rest: usize,
    hasher: &Hasher,
    verify: bool,
    meta: &mut PacketMeta,
) -> Option<Network> {
    let h: &[u8; 24] = packet.first_chunk()?;
    let ip_len = usize::from(u16::from_be_bytes([h[2], h[3]]));
    let fragment = u16::from_be_bytes([h[6], h[7]]) & 0x3fff;
    // Version 4 without options. A length of 0 is below any transport header's.
    if h[0] != 0x45 || ip_len > wire_rest || fragment != 0 {
        return None;
    }
    if verify && Sum::of(&h[..20]).fold() != 0xffff {
        return None;
    }
    let source = u32::from_be_bytes([h[12], h[13], h[14], h[15]]);
    let destination = u32::from_be_bytes([h[16], h[17], h[18], h[19]]);
    let (from, to) = both_ports([h[20], h[21], h[22], h[23]]);
    let (key, high_to_low) = ipv4_key(source, destination, from, to, h[9], 0);
    meta.key = key;
    meta.hash = hasher.ipv4(key);
    meta.ip_len = ip_len as u32;
    Some(Network {
        header_len: 20,
        ip_len,
        protocol: h[9],
        identification: u16::from_be_bytes([h[4], h[5]]),
        flags: bit(high_to_low, PacketFlags::HIGH_TO_LOW),
    })
}

/// An IPv6 packet without extension headers.
#[inline]
fn ipv6(
    packet: &[u8],
    wire_rest: usize,
    hasher: &Hasher,
    meta: &mut PacketMeta,
) -> Option<Network> {
    let h: &[u8; 44] = packet.first_chunk()?;
    let ip_len = usize::from(u16::from_be_bytes([h[4], h[5]])) + 40;
    // A payload length of 0 is below any transport header's length.
    if h[0] >> 4 != 6 || ip_len > wire_rest {
        return None;
    }
    let source = u128::from_be_bytes(*h[8..24].first_chunk()?);
    let destination = u128::from_be_bytes(*h[24..40].first_chunk()?);
    let (from, to) = both_ports([h[40], h[41], h[42], h[43]]);
    let (key, high_to_low, low, high) = ipv6_key(source, destination, from, to, h[6], 0);
    meta.key = key;
    meta.hash = hasher.ipv6(key, low, high);
    meta.ip_len = ip_len as u32;
    Some(Network {
        header_len: 40,
        ip_len,
        protocol: h[6],
        identification: 0,
        flags: bit(high_to_low, PacketFlags::HIGH_TO_LOW) | PacketFlags::IPV6.0,
    })
}

/// Reads the transport header and returns its length.
#[inline]
fn transport<const DECODE: bool>(
    packet: &[u8],
    network: &Network,
    meta: &mut PacketMeta,
) -> Option<usize> {
    let bytes = packet.get(network.header_len..)?;
    let wire_len = network.ip_len.checked_sub(network.header_len)?;
    let (kind, header_len, payload_len, checksum);
    if network.protocol == ip_protocol::TCP {
        let h: &[u8; 20] = bytes.first_chunk()?;
        header_len = usize::from(h[12] >> 4) << 2;
        if header_len < 20 {
            return None;
        }
        payload_len = wire_len.checked_sub(header_len)?;
        kind = PacketKind::Tcp;
        checksum = u16::from_be_bytes([h[16], h[17]]);
        if DECODE {
            meta.seq = Seq(u32::from_be_bytes([h[4], h[5], h[6], h[7]]));
            meta.ack = Seq(u32::from_be_bytes([h[8], h[9], h[10], h[11]]));
            meta.tcp_flags = TcpFlags(h[13]);
            meta.window = u16::from_be_bytes([h[14], h[15]]);
        }
    } else if network.protocol == ip_protocol::UDP {
        let h: &[u8; 8] = bytes.first_chunk()?;
        let length = usize::from(u16::from_be_bytes([h[4], h[5]]));
        let (from, to) = both_ports([h[0], h[1], h[2], h[3]]);
        if length > wire_len || may_be_tunnel(from, to) {
            return None;
        }
        header_len = 8;
        payload_len = length.checked_sub(8)?;
        kind = PacketKind::Udp;
        checksum = u16::from_be_bytes([h[6], h[7]]);
    } else {
        return None;
    }
    if !DECODE || kind == PacketKind::Udp {
        meta.seq = Seq(0);
        meta.ack = Seq(0);
        meta.tcp_flags = TcpFlags(0);
        meta.window = 0;
    }
    meta.fingerprint = if DECODE {
        fingerprint(checksum, network.identification, meta.ip_len)
    } else {
        0
    };
    meta.payload_len = payload_len as u32;
    meta.kind = kind;
    Some(header_len)
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
