//! Builds packets from the inside out, with right lengths and checksums.
//!
//! ```
//! use flowpin_testkit::build::{Ip, Tcp, tunnel};
//! let inner = Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]).tcp(Tcp::syn(4000, 80, 1), b"");
//! let outer = Ip::v4([192, 0, 2, 1], [192, 0, 2, 2])
//!     .udp(5555, 4789, &tunnel::vxlan(7, &inner.ethernet()));
//! let frames: Vec<Vec<u8>> = outer.fragments(80).iter().map(|f| f.ethernet()).collect();
//! assert_eq!(frames.len(), 2);
//! ```
//!
//! Owns no parsing. Written apart from the product's decoders on purpose: what one gets wrong,
//! the other finds.

mod talk;
mod transport;
pub mod tunnel;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub use talk::talk;
pub use transport::{Tcp, flags};

/// The two ends of a packet and what its IP header shall say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// Source address.
    pub source: IpAddr,
    /// Destination address, of the same family.
    pub destination: IpAddr,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// Identification, for fragments of one datagram.
    pub identification: u16,
}

/// A whole IP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpPacket {
    /// Its bytes.
    pub bytes: Vec<u8>,
    ip: Ip,
    protocol: u8,
    header_len: usize,
}

impl Ip {
    /// From any address pair of one family.
    pub fn new(source: impl Into<IpAddr>, destination: impl Into<IpAddr>) -> Self {
        Self {
            source: source.into(),
            destination: destination.into(),
            ttl: 64,
            identification: 1,
        }
    }

    /// From IPv4 addresses' bytes.
    pub fn v4(source: [u8; 4], destination: [u8; 4]) -> Self {
        Self::new(source, destination)
    }

    /// From the last words of two IPv6 addresses in 2001:db8::/32.
    pub fn v6(source: u16, destination: u16) -> Self {
        let address = |last| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last);
        Self::new(address(source), address(destination))
    }

    /// The way back.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            ..self
        }
    }

    /// With another identification.
    #[must_use]
    pub fn identified(self, identification: u16) -> Self {
        Self {
            identification,
            ..self
        }
    }

    /// A packet of any protocol.
    pub fn packet(self, protocol: u8, payload: &[u8]) -> IpPacket {
        let mut bytes = match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                self.header_v4(source, destination, protocol, payload.len(), 0)
            }
            _ => self.header_v6(protocol, payload.len()),
        };
        let header_len = bytes.len();
        bytes.extend_from_slice(payload);
        IpPacket {
            bytes,
            ip: self,
            protocol,
            header_len,
        }
    }

    fn header_v4(
        self,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        protocol: u8,
        payload_len: usize,
        fragment: u16,
    ) -> Vec<u8> {
        let mut header = vec![0x45, 0];
        header.extend_from_slice(&length(payload_len + 20));
        header.extend_from_slice(&self.identification.to_be_bytes());
        header.extend_from_slice(&fragment.to_be_bytes());
        header.extend_from_slice(&[self.ttl, protocol, 0, 0]);
        header.extend_from_slice(&source.octets());
        header.extend_from_slice(&destination.octets());
        let checksum = checksum(&header, 0);
        put(&mut header, 10, checksum);
        header
    }

    fn header_v6(self, next: u8, payload_len: usize) -> Vec<u8> {
        let octets = |address: IpAddr| match address {
            IpAddr::V6(address) => address.octets(),
            IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        };
        let mut header = vec![0x60, 0, 0, 0];
        header.extend_from_slice(&length(payload_len));
        header.extend_from_slice(&[next, self.ttl]);
        header.extend_from_slice(&octets(self.source));
        header.extend_from_slice(&octets(self.destination));
        header
    }

    /// The sum of the pseudo-header (RFC 9293 §3.1, RFC 8200 §8.1).
    fn pseudo_sum(self, protocol: u8, len: usize) -> u32 {
        let mut bytes = match (self.source, self.destination) {
            (IpAddr::V4(a), IpAddr::V4(b)) => [a.octets(), b.octets()].concat(),
            _ => self.header_v6(0, 0).split_off(8),
        };
        bytes.extend_from_slice(&[0, protocol]);
        bytes.extend_from_slice(&length(len));
        sum(&bytes)
    }
}

impl IpPacket {
    /// What follows the IP header.
    pub fn payload(&self) -> &[u8] {
        self.bytes.get(self.header_len..).unwrap_or_default()
    }

    /// The EtherType of its family.
    pub fn ether_type(&self) -> u16 {
        if self.ip.source.is_ipv4() {
            0x0800
        } else {
            0x86dd
        }
    }

    /// The frame around it.
    pub fn ethernet(&self) -> Vec<u8> {
        self.tagged(&[])
    }

    /// The frame around it, with VLAN tags, outermost first.
    pub fn tagged(&self, vlans: &[u16]) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        for (nth, vlan) in vlans.iter().enumerate() {
            let outer: u16 = if nth + 1 < vlans.len() {
                0x88a8
            } else {
                0x8100
            };
            frame.extend_from_slice(&outer.to_be_bytes());
            frame.extend_from_slice(&vlan.to_be_bytes());
        }
        frame.extend_from_slice(&self.ether_type().to_be_bytes());
        frame.extend_from_slice(&self.bytes);
        frame
    }

    /// Cut so that each fragment's packet is at most `mtu` bytes; one piece if it fits.
    pub fn fragments(&self, mtu: usize) -> Vec<Self> {
        if self.bytes.len() <= mtu {
            return vec![self.clone()];
        }
        let overhead = if self.ip.source.is_ipv4() { 20 } else { 48 };
        let step = (mtu.saturating_sub(overhead) / 8).max(1) * 8;
        let count = self.payload().len().div_ceil(step);
        let pieces = self.payload().chunks(step).enumerate();
        pieces
            .map(|(nth, piece)| self.fragment(nth * step, nth + 1 < count, piece))
            .collect()
    }

    /// One fragment: `piece` at byte `offset` of the payload.
    pub fn fragment(&self, offset: usize, more: bool, piece: &[u8]) -> Self {
        let units = u16::try_from(offset / 8).unwrap_or(u16::MAX) & 0x1fff;
        let mut bytes = match (self.ip.source, self.ip.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let word = units | u16::from(more) << 13;
                self.ip
                    .header_v4(source, destination, self.protocol, piece.len(), word)
            }
            _ => {
                // RFC 8200 §4.5.
                let mut header = self.ip.header_v6(44, piece.len() + 8);
                header.extend_from_slice(&[self.protocol, 0]);
                header.extend_from_slice(&(units << 3 | u16::from(more)).to_be_bytes());
                header.extend_from_slice(&u32::from(self.ip.identification).to_be_bytes());
                header
            }
        };
        let header_len = bytes.len();
        bytes.extend_from_slice(piece);
        Self {
            bytes,
            header_len,
            ..*self
        }
    }
}

fn length(len: usize) -> [u8; 2] {
    u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes()
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    if let Some(field) = bytes.get_mut(at..at + 2) {
        field.copy_from_slice(&value.to_be_bytes());
    }
}

/// Sum of 16-bit words, an odd byte padded with zero.
fn sum(bytes: &[u8]) -> u32 {
    bytes
        .chunks(2)
        .map(|word| match *word {
            [high, low] => u32::from(u16::from_be_bytes([high, low])),
            [high] => u32::from(high) << 8,
            _ => 0,
        })
        .fold(0u32, |sum, word| (sum + word) % 0xffff)
}

/// The Internet checksum (RFC 1071).
pub(crate) fn checksum(bytes: &[u8], start: u32) -> u16 {
    let total = (sum(bytes) + start % 0xffff) % 0xffff;
    u16::try_from(0xffff - total).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An independent example: the header of RFC 1071-style worked examples in the field.
    #[test]
    fn checksum_of_a_known_header() {
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00, 0xc0, 0xa8,
            0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(checksum(&header, 0), 0xb861);
    }

    /// Put together again, fragments must be the datagram.
    #[test]
    fn fragments_hold_the_whole_payload_in_order() {
        for ip in [Ip::v4([1, 2, 3, 4], [5, 6, 7, 8]), Ip::v6(1, 2)] {
            let whole = ip.udp(1, 2, &[7; 3000]);
            let parts = whole.fragments(1280);
            assert_eq!(parts.len(), 3);
            let joined: Vec<u8> = parts.iter().flat_map(|p| p.payload().to_vec()).collect();
            assert_eq!(joined, whole.payload());
            assert!(parts.iter().all(|part| part.bytes.len() <= 1280));
        }
    }
}
