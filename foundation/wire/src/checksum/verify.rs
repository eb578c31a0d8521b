//! What a packet's checksums say.

use super::{PseudoHeader, Sum, crc32c};
use crate::bytes::be16;
use crate::ip::Ipv4Packet;
use crate::ip_protocol::{ICMP, ICMPV6, SCTP, TCP, UDP, UDP_LITE};

/// What a checksum says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChecksumVerdict {
    /// It holds.
    Good,
    /// It does not hold.
    Bad,
    /// It is what a sender leaves for its adapter to complete.
    Offloaded,
    /// It cannot be told: no checksum, not all bytes captured, or a protocol without a rule.
    NotChecked,
}

/// Verifies the checksum of a whole transport packet.
///
/// `captured` begins at the transport header; `wire_len` is the IP payload's length. Not for
/// fragments: their checksum covers more than they hold.
///
/// ```
/// use flowpin_wire::checksum::{ChecksumVerdict, PseudoHeader, verify_transport};
/// let pseudo = PseudoHeader::v4([10, 0, 0, 1], [10, 0, 0, 2]);
/// let mut datagram = [0, 53, 0, 53, 0, 8, 0, 0];
/// datagram[6..].copy_from_slice(&(!pseudo.sum(17, 8).fold() - 114).to_be_bytes());
/// let verdict = verify_transport(pseudo, 17, &datagram, 8);
/// assert_eq!(verdict, ChecksumVerdict::Good);
/// ```
#[inline]
pub fn verify_transport(
    pseudo: PseudoHeader,
    protocol: u8,
    captured: &[u8],
    wire_len: u32,
) -> ChecksumVerdict {
    let wire_len_bytes = wire_len as usize;
    match protocol {
        TCP => match captured.get(..wire_len_bytes) {
            Some(segment) => verify_covered(pseudo, TCP, segment, wire_len, 16),
            None => ChecksumVerdict::NotChecked,
        },
        UDP => verify_udp(pseudo, captured, wire_len),
        _ => verify_other(pseudo, protocol, captured, wire_len),
    }
}

/// Verifies an IPv4 header's checksum.
#[inline]
pub fn verify_ipv4_header(packet: &Ipv4Packet<'_>) -> ChecksumVerdict {
    let sum = Sum::of_words(packet.header()).plus(Sum::of(packet.options()));
    if sum.fold() == VALID {
        ChecksumVerdict::Good
    } else if packet.checksum() == 0 {
        ChecksumVerdict::Offloaded
    } else {
        ChecksumVerdict::Bad
    }
}

/// RFC 768: the checksum covers what `length` counts, though the IP packet may be longer.
#[inline]
fn verify_udp(pseudo: PseudoHeader, captured: &[u8], wire_len: u32) -> ChecksumVerdict {
    let (Some(length), Some(checksum)) = (be16(captured, 4), be16(captured, 6)) else {
        return ChecksumVerdict::NotChecked;
    };
    // RFC 768: no checksum. RFC 8200 §8.1 forbids that over IPv6.
    if checksum == 0 && !pseudo.is_ipv6() {
        return ChecksumVerdict::NotChecked;
    }
    // A jumbogram, or a packet whose lengths are left to the adapter.
    let len = if length == 0 {
        wire_len
    } else {
        u32::from(length)
    };
    match captured.get(..len as usize) {
        Some(datagram) => verify_covered(pseudo, UDP, datagram, len, 6),
        None => ChecksumVerdict::NotChecked,
    }
}

/// ICMP, ICMPv6, SCTP and UDP-Lite.
#[inline(never)]
fn verify_other(
    pseudo: PseudoHeader,
    protocol: u8,
    captured: &[u8],
    wire_len: u32,
) -> ChecksumVerdict {
    let Some(whole) = captured.get(..wire_len as usize) else {
        return ChecksumVerdict::NotChecked;
    };
    match protocol {
        // RFC 792: without pseudo header.
        ICMP if Sum::of(whole).fold() == VALID => ChecksumVerdict::Good,
        ICMP => ChecksumVerdict::Bad,
        ICMPV6 => verify_covered(pseudo, ICMPV6, whole, wire_len, 2),
        SCTP => verify_sctp(whole),
        UDP_LITE => verify_udp_lite(pseudo, whole, wire_len),
        _ => ChecksumVerdict::NotChecked,
    }
}

#[inline]
fn verify_covered(
    pseudo: PseudoHeader,
    protocol: u8,
    covered: &[u8],
    len: u32,
    checksum_offset: usize,
) -> ChecksumVerdict {
    let sum = pseudo.sum(protocol, len).plus(Sum::of(covered));
    if sum.fold() == VALID {
        return ChecksumVerdict::Good;
    }
    match be16(covered, checksum_offset) {
        Some(checksum) if is_offloaded(pseudo, protocol, len, checksum) => {
            ChecksumVerdict::Offloaded
        }
        Some(_) => ChecksumVerdict::Bad,
        None => ChecksumVerdict::NotChecked,
    }
}

/// Whether `checksum` is what a sender leaves for its adapter: the pseudo header's sum, with the
/// length (checksum offload) or without (segmentation offload); or, of TCP, nothing.
#[cold]
fn is_offloaded(pseudo: PseudoHeader, protocol: u8, len: u32, checksum: u16) -> bool {
    checksum == pseudo.sum(protocol, len).fold()
        || checksum == pseudo.without_len(protocol).fold()
        || (checksum == 0 && protocol == TCP)
}

/// RFC 9260 §6.8: the CRC32c of the packet with zeros in the checksum's place.
fn verify_sctp(packet: &[u8]) -> ChecksumVerdict {
    let Some((header, chunks)) = packet.split_first_chunk::<12>() else {
        return ChecksumVerdict::NotChecked;
    };
    let [head @ .., a, b, c, d] = *header;
    let checksum = u32::from_le_bytes([a, b, c, d]);
    if crc32c(&[&head, &[0; 4], chunks]) == checksum {
        ChecksumVerdict::Good
    } else if checksum == 0 {
        // Left to the adapter, or left out (RFC 9653).
        ChecksumVerdict::Offloaded
    } else {
        ChecksumVerdict::Bad
    }
}

/// RFC 3828 §3.1: the length field says how much is covered, 0 means all.
fn verify_udp_lite(pseudo: PseudoHeader, packet: &[u8], wire_len: u32) -> ChecksumVerdict {
    let coverage = be16(packet, 4).map(usize::from);
    let covered = match coverage {
        Some(0) => Some(packet),
        Some(len @ 8..) => packet.get(..len),
        _ => None,
    };
    match covered {
        Some(covered) => verify_covered(pseudo, UDP_LITE, covered, wire_len, 6),
        None => ChecksumVerdict::Bad,
    }
}

/// The sum of words among which is their own, correct checksum.
const VALID: u16 = 0xffff;
