//! Transport checksums of whole packets (RFC 1071), and what offload leaves in their place.

use flowpin_packet::{PacketFlags, PacketKind, PacketMeta};
use flowpin_wire::ip_protocol;

/// What became of a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumVerdict {
    /// It holds.
    Good,
    /// It does not hold.
    Bad,
    /// It is the sum over the pseudo-header only: the sender's adapter was to complete it.
    Offloaded,
    /// There is none, or the capture has not all bytes that it covers.
    Unknown,
}

/// Verifies the transport checksum of a packet and sets its flags.
///
/// Pure: the same verdict wherever it runs, so it may run on the worker. Verified here are TCP
/// and UDP; dispatch itself has verified what cannot be seen from the descriptor (IP headers,
/// ICMP, packets behind IPv6 extension headers), and skips those here.
///
/// A partial sum is told by its value alone: nothing else in a packet says that an adapter was to
/// complete it. Someone who wants to pass for offloaded can; the capture-quality report shows it.
#[inline]
pub fn verify(meta: &mut PacketMeta, frame: &[u8]) -> ChecksumVerdict {
    if !is_plain(meta, meta.flags.has(PacketFlags::IPV6)) {
        return ChecksumVerdict::Unknown;
    }
    let verdict = judge(meta, frame);
    meta.flags = meta.flags.with(flags_of(verdict));
    verdict
}

/// Whether descriptor and frame say all that the checksum covers: with options or extension
/// headers, the addresses in the pseudo-header may be others than those in the header.
#[inline]
pub(crate) fn is_plain(meta: &PacketMeta, ipv6: bool) -> bool {
    let network_len = meta.l4_offset.wrapping_sub(meta.l3_offset);
    matches!(meta.kind, PacketKind::Tcp | PacketKind::Udp)
        && network_len == if ipv6 { 40 } else { 20 }
}

/// The flag that goes with a verdict.
#[inline]
pub(crate) const fn flags_of(verdict: ChecksumVerdict) -> PacketFlags {
    match verdict {
        ChecksumVerdict::Bad => PacketFlags::BAD_CHECKSUM,
        ChecksumVerdict::Offloaded => PacketFlags::OFFLOADED_CHECKSUM,
        ChecksumVerdict::Good | ChecksumVerdict::Unknown => PacketFlags(0),
    }
}

#[inline]
fn judge(meta: &PacketMeta, frame: &[u8]) -> ChecksumVerdict {
    let (l3, l4) = (usize::from(meta.l3_offset), usize::from(meta.l4_offset));
    let header_len = usize::from(meta.payload_offset.wrapping_sub(meta.l4_offset));
    let len = header_len + meta.payload_len as usize;
    let addresses = if meta.flags.has(PacketFlags::IPV6) {
        l3 + 8..l3 + 40
    } else {
        l3 + 12..l3 + 20
    };
    let (Some(segment), Some(addresses)) = (frame.get(l4..l4 + len), frame.get(addresses)) else {
        return ChecksumVerdict::Unknown;
    };
    judge_segment(segment, addresses, meta.protocol)
}

/// Judges a whole transport segment behind `addresses`, source and destination as in the header.
#[inline]
pub(crate) fn judge_segment(segment: &[u8], addresses: &[u8], protocol: u8) -> ChecksumVerdict {
    let at = match protocol {
        ip_protocol::TCP => 16,
        ip_protocol::UDP => 6,
        _ => 2,
    };
    let Some(&field) = segment.get(at..).and_then(|rest| rest.first_chunk::<2>()) else {
        return ChecksumVerdict::Unknown;
    };
    // RFC 768: 0 says that the sender computed none.
    if protocol == ip_protocol::UDP && field == [0, 0] {
        return ChecksumVerdict::Unknown;
    }
    // RFC 8200 §8.1 has the length in 32 bits, RFC 9293 §3.1 in 16: the sums are the same.
    let len = u32::try_from(segment.len()).unwrap_or(u32::MAX);
    let pseudo = sum(addresses)
        + u64::from(u32::from_ne_bytes(len.to_be_bytes()))
        + u64::from(u16::from_ne_bytes([0, protocol]));
    if holds(pseudo + sum(segment)) {
        ChecksumVerdict::Good
    } else if u16::from_ne_bytes(field) == fold(pseudo) || field == [0, 0] {
        ChecksumVerdict::Offloaded
    } else {
        ChecksumVerdict::Bad
    }
}

/// Whether the sum of an IPv4 header, checksum included, is right.
pub(crate) fn ipv4_header_holds(header: &[u8]) -> bool {
    holds(sum(header))
}

/// Whether a sum over bytes and their checksum is right.
#[inline]
pub(crate) const fn holds(sum: u64) -> bool {
    fold(sum) == u16::MAX
}

/// The one's complement sum of 16-bit words in native byte order (RFC 1071 §2: any order will
/// do), not yet folded.
#[inline]
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let mut total = 0;
    for word in words {
        total += u64::from(u32::from_ne_bytes(*word));
    }
    let mut last = [0; 4];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    total + u64::from(u32::from_ne_bytes(last))
}

/// Adds the carries back in.
#[inline]
const fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    sum as u16
}
