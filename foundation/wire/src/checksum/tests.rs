//! What checksums say of packets: right, damaged, cut, offloaded, without.

use super::{ChecksumVerdict, PseudoHeader, Sum, crc32c, verify_ipv4_header, verify_transport};
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
