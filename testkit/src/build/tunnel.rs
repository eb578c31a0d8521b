//! Tunnel headers around a packet or a frame, to be sent as UDP payload or IP payload.

use super::{Ip, IpPacket};

/// VXLAN (UDP port 4789) around a frame (RFC 7348 §5).
pub fn vxlan(vni: u32, frame: &[u8]) -> Vec<u8> {
    let mut out = vec![0x08, 0, 0, 0];
    out.extend_from_slice(&(vni << 8).to_be_bytes());
    out.extend_from_slice(frame);
    out
}

/// GENEVE (UDP port 6081) around a frame, without options (RFC 8926 §3.4).
pub fn geneve(vni: u32, frame: &[u8]) -> Vec<u8> {
    let mut out = vec![0, 0, 0x65, 0x58];
    out.extend_from_slice(&(vni << 8).to_be_bytes());
    out.extend_from_slice(frame);
    out
}

/// GTP-U (UDP port 2152) around a packet: a G-PDU (3GPP TS 29.281 §5.1).
pub fn gtpu(teid: u32, packet: &IpPacket) -> Vec<u8> {
    let len = u16::try_from(packet.bytes.len()).unwrap_or(u16::MAX);
    let mut out = vec![0x30, 0xff];
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(&teid.to_be_bytes());
    out.extend_from_slice(&packet.bytes);
    out
}

/// Teredo (UDP port 3544) around an IPv6 packet, without indications (RFC 4380 §5.1.1).
pub fn teredo(packet: &IpPacket) -> Vec<u8> {
    packet.bytes.clone()
}

impl Ip {
    /// GRE around a packet (RFC 2784, with a key RFC 2890).
    pub fn gre(self, key: Option<u32>, inner: &IpPacket) -> IpPacket {
        let mut out = vec![if key.is_some() { 0x20 } else { 0 }, 0];
        out.extend_from_slice(&inner.ether_type().to_be_bytes());
        out.extend_from_slice(&key.map_or(Vec::new(), |key| key.to_be_bytes().to_vec()));
        out.extend_from_slice(&inner.bytes);
        self.packet(47, &out)
    }

    /// IP in IP: protocol 4 around IPv4, 41 around IPv6.
    pub fn ip(self, inner: &IpPacket) -> IpPacket {
        let protocol = if inner.ether_type() == 0x0800 { 4 } else { 41 };
        self.packet(protocol, &inner.bytes)
    }
}
