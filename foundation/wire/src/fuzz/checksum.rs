//! Checksums, against the slow and obvious way.

use super::packet;
use crate::checksum::{ChecksumVerdict, PseudoHeader, Sum, crc32c, verify_transport};
use crate::ip_protocol::{ICMP, ICMPV6, SCTP, TCP, UDP, UDP_LITE};

/// Sums and CRCs are those of their definitions, and a packet completed with its checksum
/// verifies.
pub fn fuzz_checksum(data: &[u8]) {
    let Some((bytes, wire_len)) = packet(data) else {
        return;
    };
    assert_eq!(Sum::of(bytes).fold(), slow_sum(bytes));
    assert_eq!(crc32c(&[bytes]), slow_crc(bytes));
    let wire_len = u32::try_from(wire_len).unwrap_or(u32::MAX);
    let pseudo = PseudoHeader::v6([bytes.first().copied().unwrap_or(1); 16], [7; 16]);
    for protocol in [ICMP, TCP, UDP, ICMPV6, SCTP, UDP_LITE, 0] {
        verify_transport(pseudo, protocol, bytes, wire_len);
    }
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let mut segment = bytes.to_vec();
    if let Some(field) = segment.get_mut(16..18) {
        field.fill(0);
        let sum = pseudo.sum(TCP, len).plus(Sum::of(&segment)).fold();
        for (to, from) in segment.iter_mut().skip(16).zip((!sum).to_be_bytes()) {
            *to = from;
        }
        let verdict = verify_transport(pseudo, TCP, &segment, len);
        assert_eq!(verdict, ChecksumVerdict::Good);
    }
}

/// RFC 1071 §4.1, word by word.
fn slow_sum(bytes: &[u8]) -> u16 {
    let mut sum = 0u32;
    for pair in bytes.chunks(2) {
        let word = [
            pair.first().copied().unwrap_or(0),
            pair.get(1).copied().unwrap_or(0),
        ];
        sum += u32::from(u16::from_be_bytes(word));
        sum = (sum >> 16) + (sum & 0xffff);
    }
    u16::try_from(sum).unwrap_or(0)
}

/// The CRC's definition, bit by bit.
fn slow_crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0x82f6_3b78 * (crc & 1));
        }
    }
    !crc
}
