//! What stands between the frame's Ethernet header and the IP packet that the trace is about.

use super::checksum::{fold, sum};
use crate::options::Tunnel;

const ENDS: [[u8; 4]; 2] = [[192, 0, 2, 1], [192, 0, 2, 2]];
const ETHERNET_LEN: usize = 14;
const UDP_LEN: usize = 8;

impl Tunnel {
    /// Bytes of its headers.
    pub(super) const fn len(self) -> usize {
        match self {
            Self::None => 0,
            Self::Vxlan | Self::Geneve => 20 + UDP_LEN + 8 + ETHERNET_LEN,
            Self::Gre => 20 + 4,
            Self::Gtpu => 20 + UDP_LEN + 8,
            Self::IpInIp => 20,
        }
    }

    /// Appends its headers for an inner packet of `inner_len` bytes.
    pub(super) fn write(self, from_client: bool, v6: bool, inner_len: usize, out: &mut Vec<u8>) {
        let ether_type: [u8; 2] = if v6 { [0x86, 0xdd] } else { [8, 0] };
        let after_ip = self.len().saturating_sub(20) + inner_len;
        match self {
            Self::None => {}
            Self::IpInIp => outer_ip(if v6 { 41 } else { 4 }, after_ip, from_client, out),
            Self::Gre => {
                outer_ip(47, after_ip, from_client, out);
                out.extend_from_slice(&[0, 0]);
                out.extend_from_slice(&ether_type);
            }
            Self::Gtpu => {
                outer_ip(17, after_ip, from_client, out);
                udp(2152, 2152, after_ip, out);
                // Version 1, G-PDU; the length counts what follows eight bytes.
                out.extend_from_slice(&[0x30, 0xff]);
                out.extend_from_slice(&be16(inner_len));
                out.extend_from_slice(&[0, 0, 0, if from_client { 1 } else { 2 }]);
            }
            Self::Vxlan | Self::Geneve => {
                outer_ip(17, after_ip, from_client, out);
                let (port, head) = if matches!(self, Self::Vxlan) {
                    (4789, [8, 0, 0, 0, 0, 0, 42, 0])
                } else {
                    (6081, [0, 0, 0x65, 0x58, 0, 0, 42, 0])
                };
                udp(
                    if from_client { 49_153 } else { 49_154 },
                    port,
                    after_ip,
                    out,
                );
                out.extend_from_slice(&head);
                out.extend_from_slice(&[2, 0, 0, 0, 0, 8, 2, 0, 0, 0, 0, 9]);
                out.extend_from_slice(&ether_type);
            }
        }
    }
}

/// An IPv4 header between the tunnel's ends.
fn outer_ip(protocol: u8, payload_len: usize, from_client: bool, out: &mut Vec<u8>) {
    let (source, destination) = (
        ENDS[usize::from(!from_client)],
        ENDS[usize::from(from_client)],
    );
    let len = be16(20 + payload_len);
    let mut header = [
        0x45, 0, len[0], len[1], 0, 0, 0x40, 0, 64, protocol, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    header[12..16].copy_from_slice(&source);
    header[16..].copy_from_slice(&destination);
    let checksum = !fold(sum(&header));
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    out.extend_from_slice(&header);
}

/// A UDP header without a checksum, as these tunnels mostly have.
fn udp(source: u16, destination: u16, len: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&source.to_be_bytes());
    out.extend_from_slice(&destination.to_be_bytes());
    out.extend_from_slice(&be16(len));
    out.extend_from_slice(&[0, 0]);
}

pub(super) fn be16(len: usize) -> [u8; 2] {
    u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes()
}
