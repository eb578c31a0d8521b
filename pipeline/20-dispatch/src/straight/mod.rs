//! The straight line: Ethernet with up to two tags, IPv4 without options or IPv6, TCP or UDP.
//!
//! ```text
//!  0          L3 = 14, 18, 22        + 20 or 40          + 20.. or 8
//!  │ Ethernet, tags │ IPv4 or IPv6 header │ TCP or UDP header │ payload
//! ```
//!
//! Nearly all packets of nearly all captures are of this form. For those the descriptor is filled
//! without a call and with branches that go one way. At the first sign of anything else `None` is
//! returned and the peel loop starts from the beginning; it gives the same answer for packets that
//! this one accepts (property test in `tests/robust.rs`), so nothing is decided here.

pub(crate) mod plain;

use crate::pin::hash::Hasher;
use crate::pin::key::{ipv4_key, ipv6_key};
use crate::transport::fingerprint;
use crate::transport::ports::{may_be_tunnel, may_hold_ipv6};
use flowpin_packet::{
    Frame, LinkType, PacketFlags, PacketKind, PacketMeta, Seq, TcpFlags, Timestamp,
};
use flowpin_wire::checksum::Sum;
use flowpin_wire::{ether_type, ip_protocol};

/// What the caller knows of the packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) number: u64,
    pub(crate) stream_time: Timestamp,
}

/// Fills `meta` if the Ethernet frame is of the plain form; leaves anything in it otherwise.
///
/// With `DECODE` off, TCP's numbers stay unread ([`PacketFlags::UNDECODED`]); they are validated
/// all the same, so that reading them later cannot fail.
// PERF: the commonest stack of headers stands at fixed offsets, which leaves two length checks and
// no pointer arithmetic; and fields are stored as soon as they are known, because twenty do not fit
// into registers. Together 248 → 217 instructions a packet over mix-dev.pcap (x86-64, loop, clock
// and the peel loop's 1 % included; `examples/measure.rs`).
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
    let flags = match u16::from_be_bytes([header[12], header[13]]) {
        ether_type::IPV4 => ipv4::<DECODE, 14>(captured, frame, hasher, verify_ip, meta)?,
        ether_type::IPV6 => ipv6::<DECODE, 14>(captured, frame, hasher, meta)?,
        ether_type::VLAN | ether_type::SERVICE_VLAN => {
            tagged::<DECODE>(captured, frame, hasher, verify_ip, meta)?
        }
        _ => return None,
    };
    meta.flags = PacketFlags(flags);
    let (snapped, late) = oddities(frame, origin);
    if snapped || late {
        rare_flags(snapped, late, meta);
    }
    meta.time = frame.time;
    meta.stream_time = origin.stream_time;
    meta.number = origin.number;
    meta.frame_start = frame.start;
    meta.captured_len = frame.captured_len;
    meta.wire_len = frame.wire_len;
    meta.link = LinkType::Ethernet;
    Some(())
}

/// Whether the capture cut the frame, and whether it comes behind stream time.
#[inline(always)]
pub(crate) fn oddities(frame: &Frame, origin: Origin) -> (bool, bool) {
    (
        frame.captured_len < frame.wire_len,
        frame.time < origin.stream_time,
    )
}

#[cold]
#[inline(never)]
pub(crate) fn rare_flags(snapped: bool, late: bool, meta: &mut PacketMeta) {
    if snapped {
        meta.flags = meta.flags.with(PacketFlags::SNAPPED);
    }
    if late {
        meta.flags = meta.flags.with(PacketFlags::OUT_OF_ORDER);
    }
}

/// Behind one or two tags. Where all frames have tags, the call costs a nanosecond.
#[inline(never)]
fn tagged<const DECODE: bool>(
    captured: &[u8],
    frame: &Frame,
    hasher: &Hasher,
    verify_ip: bool,
    meta: &mut PacketMeta,
) -> Option<u16> {
    let tags: &[u8; 22] = captured.first_chunk()?;
    let flags = match u16::from_be_bytes([tags[16], tags[17]]) {
        ether_type::IPV4 => ipv4::<DECODE, 18>(captured, frame, hasher, verify_ip, meta)?,
        ether_type::IPV6 => ipv6::<DECODE, 18>(captured, frame, hasher, meta)?,
        ether_type::VLAN => match u16::from_be_bytes([tags[20], tags[21]]) {
            ether_type::IPV4 => ipv4::<DECODE, 22>(captured, frame, hasher, verify_ip, meta)?,
            ether_type::IPV6 => ipv6::<DECODE, 22>(captured, frame, hasher, meta)?,
            _ => return None,
        },
        _ => return None,
    };
    Some(flags | PacketFlags::VLAN.0)
}

/// An IPv4 packet without options that is no fragment.
#[inline]
fn ipv4<const DECODE: bool, const L3: usize>(
    captured: &[u8],
    frame: &Frame,
    hasher: &Hasher,
    verify: bool,
    meta: &mut PacketMeta,
) -> Option<u16> {
    let (h, l4): (&[u8; 20], &[u8]) = captured.get(L3..)?.split_first_chunk()?;
    let first: &[u8; 8] = l4.first_chunk()?;
    let ip_len = usize::from(u16::from_be_bytes([h[2], h[3]]));
    let fragment = u16::from_be_bytes([h[6], h[7]]) & 0x3fff;
    // A length of 0 is below any transport header's.
    if h[0] != 0x45 || fragment != 0 || L3 + ip_len > frame.wire_len as usize {
        return None;
    }
    if verify && Sum::of(h).fold() != 0xffff {
        return None;
    }
    let source = u32::from_be_bytes([h[12], h[13], h[14], h[15]]);
    let destination = u32::from_be_bytes([h[16], h[17], h[18], h[19]]);
    let ports = u32::from_be_bytes([first[0], first[1], first[2], first[3]]);
    let (from, to) = ((ports >> 16) as u16, ports as u16);
    let (key, high_to_low) = ipv4_key(source, destination, from, to, h[9], 0);
    meta.key = key;
    meta.hash = hasher.ipv4(key);
    meta.ip_len = ip_len as u32;
    meta.l3_offset = L3 as u16;
    meta.l4_offset = (L3 + 20) as u16;
    let identification = u16::from_be_bytes([h[4], h[5]]);
    let wire_len = ip_len.checked_sub(20)?;
    let header_len = transport::<DECODE>(h[9], first, l4, wire_len, identification, meta)?;
    meta.payload_offset = (L3 + 20 + header_len) as u16;
    Some(undecoded(DECODE) | down(high_to_low))
}

/// An IPv6 packet without extension headers.
#[inline(never)]
fn ipv6<const DECODE: bool, const L3: usize>(
    captured: &[u8],
    frame: &Frame,
    hasher: &Hasher,
    meta: &mut PacketMeta,
) -> Option<u16> {
    let (h, l4): (&[u8; 40], &[u8]) = captured.get(L3..)?.split_first_chunk()?;
    let first: &[u8; 8] = l4.first_chunk()?;
    let wire_len = usize::from(u16::from_be_bytes([h[4], h[5]]));
    // A payload length of 0 is below any transport header's.
    if h[0] >> 4 != 6 || L3 + 40 + wire_len > frame.wire_len as usize {
        return None;
    }
    let source = u128::from_be_bytes(*h[8..24].first_chunk()?);
    let destination = u128::from_be_bytes(*h[24..40].first_chunk()?);
    let ports = u32::from_be_bytes([first[0], first[1], first[2], first[3]]);
    let (from, to) = ((ports >> 16) as u16, ports as u16);
    let (key, high_to_low, low, high) = ipv6_key(source, destination, from, to, h[6], 0);
    meta.key = key;
    meta.hash = hasher.ipv6(key, low, high);
    meta.ip_len = wire_len as u32 + 40;
    meta.l3_offset = L3 as u16;
    meta.l4_offset = (L3 + 40) as u16;
    let header_len = transport::<DECODE>(h[6], first, l4, wire_len, 0, meta)?;
    meta.payload_offset = (L3 + 40 + header_len) as u16;
    Some(undecoded(DECODE) | down(high_to_low) | PacketFlags::IPV6.0)
}

/// Reads the transport header at the start of `l4`, of which `first` are the first bytes, and
/// returns its length.
#[inline]
fn transport<const DECODE: bool>(
    protocol: u8,
    first: &[u8; 8],
    l4: &[u8],
    wire_len: usize,
    identification: u16,
    meta: &mut PacketMeta,
) -> Option<usize> {
    if protocol == ip_protocol::TCP {
        let h: &[u8; 20] = l4.first_chunk()?;
        let header_len = usize::from(h[12] >> 4) << 2;
        if header_len < 20 {
            return None;
        }
        meta.payload_len = wire_len.checked_sub(header_len)? as u32;
        (meta.icmp_code, meta.kind, meta.protocol) = (0, PacketKind::Tcp, ip_protocol::TCP);
        if DECODE {
            meta.seq = Seq(u32::from_be_bytes([h[4], h[5], h[6], h[7]]));
            meta.ack = Seq(u32::from_be_bytes([h[8], h[9], h[10], h[11]]));
            meta.window = u16::from_be_bytes([h[14], h[15]]);
            meta.tcp_flags = TcpFlags(h[13]);
            let checksum = u16::from_be_bytes([h[16], h[17]]);
            meta.fingerprint = fingerprint(checksum, identification, meta.ip_len);
        } else {
            clear(meta);
        }
        return Some(header_len);
    }
    if protocol != ip_protocol::UDP {
        return None;
    }
    let length = usize::from(u16::from_be_bytes([first[4], first[5]]));
    let source = u16::from_be_bytes([first[0], first[1]]);
    let destination = u16::from_be_bytes([first[2], first[3]]);
    if length > wire_len || may_be_tunnel(source, destination) {
        return None;
    }
    let payload_len = length.checked_sub(8)? as u32;
    if let Some(&[.., version, _, _, _, len_high, len_low]) = l4.first_chunk::<14>()
        && may_hold_ipv6(
            version,
            u16::from_be_bytes([len_high, len_low]),
            payload_len,
        )
    {
        return None;
    }
    meta.payload_len = payload_len;
    (meta.icmp_code, meta.kind, meta.protocol) = (0, PacketKind::Udp, ip_protocol::UDP);
    clear(meta);
    if DECODE {
        let checksum = u16::from_be_bytes([first[6], first[7]]);
        meta.fingerprint = fingerprint(checksum, identification, meta.ip_len);
    }
    Some(8)
}

/// The fields of a transport header that was not read, or has none of them.
#[inline]
fn clear(meta: &mut PacketMeta) {
    (meta.seq, meta.ack, meta.window) = (Seq(0), Seq(0), 0);
    (meta.tcp_flags, meta.fingerprint) = (TcpFlags(0), 0);
}

#[inline]
const fn undecoded(decoded: bool) -> u16 {
    if decoded { 0 } else { PacketFlags::UNDECODED.0 }
}

/// The direction's flag, without a branch: half of all packets go either way.
#[inline]
pub(crate) fn down(high_to_low: bool) -> u16 {
    u16::from(high_to_low) * PacketFlags::HIGH_TO_LOW.0
}
