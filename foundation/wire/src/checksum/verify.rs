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

#[cfg(test)]
mod tests {
    use super::{ChecksumVerdict, verify_ipv4_header, verify_transport};
    use crate::checksum::{PseudoHeader, Sum, crc32c};
    use crate::ip::Ipv4Packet;
    use crate::ip_protocol::{ICMP, ICMPV6, SCTP, TCP, UDP, UDP_LITE};
    use ChecksumVerdict::{Bad, Good, NotChecked, Offloaded};

    fn v4() -> PseudoHeader {
        PseudoHeader::v4([192, 0, 2, 1], [198, 51, 100, 7])
    }

    fn v6() -> PseudoHeader {
        PseudoHeader::v6([0x20; 16], [0x30; 16])
    }

    fn verify(pseudo: PseudoHeader, protocol: u8, bytes: &[u8]) -> ChecksumVerdict {
        verify_transport(pseudo, protocol, bytes, bytes.len() as u32)
    }

    /// `bytes` with the right checksum at `offset`.
    fn completed(pseudo: PseudoHeader, protocol: u8, bytes: &[u8], offset: usize) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        bytes[offset..offset + 2].fill(0);
        let sum = pseudo
            .sum(protocol, bytes.len() as u32)
            .plus(Sum::of(&bytes));
        bytes[offset..offset + 2].copy_from_slice(&(!sum.fold()).to_be_bytes());
        bytes
    }

    fn segment() -> Vec<u8> {
        (0..133u8).map(|i| i.wrapping_mul(7)).collect()
    }

    /// A correct checksum is good, and any changed bit makes it bad.
    #[test]
    fn any_changed_bit_is_noticed() {
        for (pseudo, protocol, offset) in [
            (v4(), TCP, 16),
            (v6(), TCP, 16),
            (v6(), ICMPV6, 2),
            (v6(), UDP_LITE, 6),
        ] {
            let mut bytes = segment();
            bytes[4..6].fill(0);
            let mut bytes = completed(pseudo, protocol, &bytes, offset);
            assert_eq!(verify(pseudo, protocol, &bytes), Good);
            bytes[132] ^= 0x10;
            assert_eq!(verify(pseudo, protocol, &bytes), Bad);
        }
    }

    /// What offload leaves is not an error: the sum with or without length, or nothing at all.
    #[test]
    fn offload_is_recognised() {
        for pseudo in [v4(), v6()] {
            let mut bytes = segment();
            let len = bytes.len() as u32;
            for left in [
                pseudo.sum(TCP, len).fold(),
                pseudo.without_len(TCP).fold(),
                0,
            ] {
                bytes[16..18].copy_from_slice(&left.to_be_bytes());
                assert_eq!(verify(pseudo, TCP, &bytes), Offloaded);
            }
        }
    }

    /// RFC 768: 0 means "no checksum" over IPv4; over IPv6 it must not be.
    #[test]
    fn udp_without_checksum_is_only_for_ipv4() {
        let datagram = [0, 1, 0, 2, 0, 9, 0, 0, 7];
        assert_eq!(verify(v4(), UDP, &datagram), NotChecked);
        assert_eq!(verify(v6(), UDP, &datagram), Bad);
    }

    /// UDP's own length decides what is covered: bytes behind it are not.
    #[test]
    fn udp_covers_its_own_length() {
        let mut datagram = completed(v4(), UDP, &[0, 1, 0, 2, 0, 9, 0, 0, 7], 6);
        datagram.extend([0xee; 5]);
        assert_eq!(verify(v4(), UDP, &datagram), Good);
        datagram[8] = 8;
        assert_eq!(verify(v4(), UDP, &datagram), Bad);
    }

    /// Length 0 in a jumbogram covers all of it.
    #[test]
    fn a_jumbogram_is_covered_whole() {
        let mut datagram = vec![7; 70_000];
        datagram[4..6].fill(0);
        let mut datagram = completed(v6(), UDP, &datagram, 6);
        assert_eq!(verify(v6(), UDP, &datagram), Good);
        datagram[69_999] = 8;
        assert_eq!(verify(v6(), UDP, &datagram), Bad);
    }

    /// What the capture cut cannot be judged.
    #[test]
    fn snapped_packets_are_not_checked() {
        let bytes = segment();
        for protocol in [TCP, ICMP, ICMPV6, SCTP, UDP_LITE] {
            let verdict = verify_transport(v4(), protocol, &bytes, 200);
            assert_eq!(verdict, NotChecked, "{protocol}");
        }
        let mut datagram = bytes;
        datagram[4..6].copy_from_slice(&[0, 200]);
        assert_eq!(verify(v4(), UDP, &datagram), NotChecked);
        assert_eq!(verify(v4(), UDP, &datagram[..7]), NotChecked);
    }

    /// RFC 792: no pseudo header.
    #[test]
    fn icmp_covers_the_message_alone() {
        let mut message = vec![8, 0, 0, 0, 1, 2, 3, 4, 5];
        let sum = Sum::of(&message).fold();
        message[2..4].copy_from_slice(&(!sum).to_be_bytes());
        assert_eq!(verify(v4(), ICMP, &message), Good);
        message[8] = 6;
        assert_eq!(verify(v4(), ICMP, &message), Bad);
    }

    /// RFC 9260: CRC32c, sent least significant byte first; 0 may mean offload.
    #[test]
    fn sctp_is_covered_by_crc32c() {
        let mut packet = vec![0x0b, 0x59, 0x0b, 0x58, 0, 0, 0, 7, 0, 0, 0, 0, 14, 0, 0, 4];
        assert_eq!(verify(v4(), SCTP, &packet), Offloaded);
        let crc = crc32c(&[&packet]);
        packet[8..12].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(verify(v4(), SCTP, &packet), Good);
        packet[15] = 5;
        assert_eq!(verify(v4(), SCTP, &packet), Bad);
        assert_eq!(verify(v4(), SCTP, &packet[..11]), NotChecked);
    }

    /// RFC 3828: what lies past the coverage may change.
    #[test]
    fn udp_lite_covers_a_part() {
        let mut packet = vec![0, 1, 0, 2, 0, 8, 0, 0, 7, 7];
        let sum = v4().sum(UDP_LITE, 10).plus(Sum::of(&packet[..8]));
        packet[6..8].copy_from_slice(&(!sum.fold()).to_be_bytes());
        assert_eq!(verify(v4(), UDP_LITE, &packet), Good);
        packet[9] = 8;
        assert_eq!(verify(v4(), UDP_LITE, &packet), Good);
        packet[5] = 7;
        assert_eq!(verify(v4(), UDP_LITE, &packet), Bad);
    }

    /// The header's own checksum covers options too.
    #[test]
    fn an_ipv4_header_is_verified() {
        let mut bytes = vec![0x46, 0, 0, 24, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0];
        bytes.extend([10, 0, 0, 1, 10, 0, 0, 2, 1, 1, 1, 0]);
        let verdict = |bytes: &[u8]| verify_ipv4_header(&Ipv4Packet::parse(bytes, 24).unwrap());
        assert_eq!(verdict(&bytes), Offloaded);
        let sum = Sum::of(&bytes).fold();
        bytes[10..12].copy_from_slice(&(!sum).to_be_bytes());
        assert_eq!(verdict(&bytes), Good);
        bytes[20] = 0;
        assert_eq!(verdict(&bytes), Bad);
    }

    /// Protocols without a rule are not judged.
    #[test]
    fn other_protocols_are_not_checked() {
        assert_eq!(verify(v4(), 47, &[0; 8]), NotChecked);
    }
}
