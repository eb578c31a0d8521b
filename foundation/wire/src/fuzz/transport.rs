//! Layers 3 and 4.

use super::{check_claim, check_payload, packet};
use crate::ip::{Extensions, Ipv4Packet, Ipv6Packet};
use crate::transport::{
    IcmpFamily, IcmpMessage, Ports, SackBlock, SctpPacket, TcpOption, TcpSegment, UdpDatagram,
};

/// Both versions of IP, with extension headers.
pub fn fuzz_ip(data: &[u8]) {
    let Some((bytes, wire_len)) = packet(data) else {
        return;
    };
    if let Ok(view) = Ipv4Packet::parse(bytes, wire_len) {
        check_payload(bytes, view.header_len(), view.payload());
        check_claim(view.payload(), view.payload_len());
        assert!(view.packet_len() as usize <= wire_len);
        view.final_destination();
    }
    if let Ok(view) = Ipv6Packet::parse(bytes, wire_len) {
        check_payload(bytes, view.header_len(), view.payload());
        check_claim(view.payload(), view.payload_len());
        assert!(view.packet_len() as usize <= wire_len.max(Ipv6Packet::HEADER_LEN));
        extensions(
            view.next_header(),
            view.payload(),
            view.payload_len() as usize,
        );
    }
    if let Some((&next_header, bytes)) = bytes.split_first() {
        extensions(next_header, bytes, wire_len);
    }
}

fn extensions(next_header: u8, bytes: &[u8], wire_len: usize) {
    if let Ok(view) = Extensions::parse(next_header, bytes, wire_len) {
        check_payload(bytes, view.header_len(), view.payload());
        if let Some(fragment) = view.fragment() {
            assert!(fragment.more_fragments || fragment.offset > 0);
        }
    }
}

/// Every transport over the same bytes, with options and chunks.
pub fn fuzz_transport(data: &[u8]) {
    let Some((bytes, wire_len)) = packet(data) else {
        return;
    };
    Ports::parse(bytes);
    if let Ok(view) = TcpSegment::parse(bytes, wire_len) {
        // Options that were not captured leave the payload without a place.
        if view.header_len() <= bytes.len() {
            check_payload(bytes, view.header_len(), view.payload());
        }
        check_claim(view.payload(), view.payload_len());
        let options = view.options().inspect(|option| {
            if let TcpOption::Sack(value) = option {
                assert_eq!(SackBlock::blocks(value).count() * 8, value.len());
            }
        });
        assert!(options.count() <= 40);
    }
    let datagrams = [
        UdpDatagram::parse(bytes, wire_len),
        UdpDatagram::parse_unbounded(bytes, wire_len),
    ];
    for view in datagrams.into_iter().flatten() {
        check_payload(bytes, view.header_len(), view.payload());
        check_claim(view.payload(), view.payload_len());
    }
    if let Ok(view) = SctpPacket::parse(bytes, wire_len) {
        check_payload(bytes, view.header_len(), view.payload());
        check_claim(view.payload(), view.payload_len());
        let sum: usize = view.chunks().map(|chunk| chunk.value.len() + 4).sum();
        assert!(sum <= view.payload().len());
    }
    for family in [IcmpFamily::V4, IcmpFamily::V6] {
        if let Ok(view) = IcmpMessage::parse(bytes, wire_len, family) {
            check_payload(bytes, view.header_len(), view.payload());
            check_claim(view.payload(), view.payload_len());
            check_payload(bytes, view.header_len(), view.quoted());
            assert!(!view.is_error() || view.kind().counterpart().is_none());
        }
    }
}
