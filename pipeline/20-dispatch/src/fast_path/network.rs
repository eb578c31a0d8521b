//! IPv4 headers without options, and IPv6 headers without extension headers.

use super::refusal::{Refusal, SlowReason};
use super::store_frame;
use super::transport::{self, Carried};
use crate::dispatcher::Origin;
use crate::pin::hash::Hasher;
use crate::pin::key::{ipv4_key, ipv6_key};
use crate::transport::fingerprint;
use flowpin_packet::{Frame, PacketFlags, PacketMeta};

/// An IPv4 packet without options that is no fragment, at `l3`. `flags`: of the frame.
// PERF: the frame's fields are stored before the headers are read, and the transport header is
// read before the key is made: each needs the registers of what went before.
#[inline(always)]
pub(super) fn ipv4<const DECODE: bool, R: Refusal>(
    captured: &[u8],
    l3: usize,
    flags: u16,
    frame: &Frame,
    origin: Origin,
    hasher: &Hasher,
    meta: &mut PacketMeta,
) -> Result<(), R> {
    let short = || R::because(SlowReason::Short);
    let packet = captured.get(l3..).ok_or_else(short)?;
    // The header, and the shortest transport header.
    let h: &[u8; 28] = packet.first_chunk().ok_or_else(short)?;
    let l4 = packet.get(IPV4_LEN..).ok_or_else(short)?;
    let ip_len = u32::from(u16::from_be_bytes([h[2], h[3]]));
    // One word for "more fragments", the fragment's offset and the protocol; the time to live
    // lies between them. A fragment gives a number that is no protocol's.
    let protocol = u32::from_be_bytes(*h[6..10].first_chunk().ok_or_else(short)?) & 0x3fff_00ff;
    if h[0] != 0x45 || l3 as u32 + ip_len > frame.wire_len {
        return Err(R::because(match h[0] {
            0x45 => SlowReason::IpLength,
            _ => SlowReason::IpHeader,
        }));
    }
    store_frame(frame, origin, meta);
    let carried = Carried {
        protocol,
        l4_offset: l3 as u32 + IPV4_LEN as u32,
        network_len: IPV4_LEN as u32,
        ip_len,
    };
    let checksum = transport::read::<DECODE, R>(l4, &carried, meta)?;
    if DECODE {
        let identification = u16::from_be_bytes([h[4], h[5]]);
        meta.fingerprint = fingerprint(checksum, identification, ip_len);
    }
    meta.l3_offset = l3 as u16;

    let source = u32::from_be_bytes([h[12], h[13], h[14], h[15]]);
    let destination = u32::from_be_bytes([h[16], h[17], h[18], h[19]]);
    let ports = u32::from_be_bytes([h[20], h[21], h[22], h[23]]);
    let (from, to) = ((ports >> 16) as u16, ports as u16);
    let (key, high_to_low) = ipv4_key(source, destination, from, to, protocol as u8, 0);
    meta.key = key;
    meta.hash = hasher.ipv4(key);
    meta.flags = PacketFlags(flags | undecoded(DECODE) | direction(high_to_low));
    Ok(())
}

/// An IPv6 packet without extension headers, at `l3`. `flags`: of the frame.
#[inline(always)]
pub(super) fn ipv6<const DECODE: bool, R: Refusal>(
    captured: &[u8],
    l3: usize,
    flags: u16,
    frame: &Frame,
    origin: Origin,
    hasher: &Hasher,
    meta: &mut PacketMeta,
) -> Result<(), R> {
    let short = || R::because(SlowReason::Short);
    let packet = captured.get(l3..).ok_or_else(short)?;
    let (h, l4): (&[u8; IPV6_LEN], &[u8]) = packet.split_first_chunk().ok_or_else(short)?;
    // A payload length of 0 is less than any transport header needs.
    let ip_len = u32::from(u16::from_be_bytes([h[4], h[5]])) + IPV6_LEN as u32;
    if h[0] >> 4 != 6 || l3 as u32 + ip_len > frame.wire_len {
        return Err(R::because(match h[0] >> 4 {
            6 => SlowReason::IpLength,
            _ => SlowReason::IpHeader,
        }));
    }
    store_frame(frame, origin, meta);
    let carried = Carried {
        protocol: u32::from(h[6]),
        l4_offset: l3 as u32 + IPV6_LEN as u32,
        network_len: IPV6_LEN as u32,
        ip_len,
    };
    let checksum = transport::read::<DECODE, R>(l4, &carried, meta)?;
    if DECODE {
        meta.fingerprint = fingerprint(checksum, 0, ip_len);
    }
    meta.l3_offset = l3 as u16;

    let source = u128::from_be_bytes(*h[8..24].first_chunk().ok_or_else(short)?);
    let destination = u128::from_be_bytes(*h[24..40].first_chunk().ok_or_else(short)?);
    let ports = u32::from_be_bytes(*l4.first_chunk().ok_or_else(short)?);
    let (from, to) = ((ports >> 16) as u16, ports as u16);
    let (key, high_to_low, low, high) = ipv6_key(source, destination, from, to, h[6], 0);
    meta.key = key;
    meta.hash = hasher.ipv6(key, low, high);
    let flags = flags | PacketFlags::IPV6.0;
    meta.flags = PacketFlags(flags | undecoded(DECODE) | direction(high_to_low));
    Ok(())
}

#[inline(always)]
const fn undecoded(decoded: bool) -> u16 {
    if decoded { 0 } else { PacketFlags::UNDECODED.0 }
}

/// The direction's flag, without a branch: half of all packets go either way.
#[inline(always)]
fn direction(high_to_low: bool) -> u16 {
    u16::from(high_to_low) * PacketFlags::HIGH_TO_LOW.0
}

/// Length of an IPv4 header without options.
const IPV4_LEN: usize = 20;
/// Length of an IPv6 header.
const IPV6_LEN: usize = 40;
