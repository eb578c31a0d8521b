//! Tunnels.

use super::{check_payload, packet};
use crate::tunnel::{
    AyiyaHeader, CapwapHeader, EoipHeader, Erspan2Header, Erspan3Header, GeneveHeader, GreHeader,
    GtpuHeader, IpTunnel, L2tpHeader, NshHeader, TeredoHeader, UdpTunnel, VxlanGpeHeader,
    VxlanHeader, WireguardMessage,
};

/// Every tunnel over the same bytes.
pub fn fuzz_tunnel(data: &[u8]) {
    let Some((bytes, wire_len)) = packet(data) else {
        return;
    };
    if let Ok(view) = GreHeader::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = EoipHeader::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = Erspan2Header::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = Erspan3Header::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    let l2tp = [
        L2tpHeader::parse(bytes, wire_len),
        L2tpHeader::parse_over_ip(bytes),
    ];
    for view in l2tp.into_iter().flatten() {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = NshHeader::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = CapwapHeader::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = TeredoHeader::parse(bytes, wire_len) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = VxlanHeader::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = VxlanGpeHeader::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = GeneveHeader::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
        let sum: usize = view.options().map(|option| option.value.len() + 4).sum();
        assert_eq!(sum + GeneveHeader::HEADER_LEN, view.header_len());
    }
    if let Ok(view) = GtpuHeader::parse(bytes, wire_len) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = AyiyaHeader::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    let over_udp = UdpTunnel::PORTS.iter();
    let over_udp = over_udp.filter_map(|(_, tunnel)| tunnel.parse(bytes, wire_len).ok());
    let over_ip = IpTunnel::PROTOCOLS.iter();
    let over_ip = over_ip.filter_map(|(_, tunnel)| tunnel.parse(bytes).ok());
    for header in over_udp.chain(over_ip) {
        check_payload(bytes, header.header_len, &[]);
    }
    if WireguardMessage::parse(bytes, wire_len).is_ok() {
        assert!(wire_len >= 32);
    }
}
