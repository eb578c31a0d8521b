//! TCP, UDP, ICMP and SCTP inside IP, checksums right.

use super::{Ip, IpPacket, checksum, length, put};

/// TCP's control bits.
pub mod flags {
    /// No more data.
    pub const FIN: u8 = 1;
    /// Synchronise.
    pub const SYN: u8 = 2;
    /// Reset.
    pub const RST: u8 = 4;
    /// Push.
    pub const PSH: u8 = 8;
    /// Acknowledgement counts.
    pub const ACK: u8 = 16;
}

/// What a TCP header shall say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Control bits, see [`flags`].
    pub flags: u8,
    /// Window.
    pub window: u16,
}

impl Tcp {
    /// A segment with these control bits.
    pub fn new(source_port: u16, destination_port: u16, seq: u32, ack: u32, flags: u8) -> Self {
        Self {
            source_port,
            destination_port,
            seq,
            ack,
            flags,
            window: 64_240,
        }
    }

    /// The first segment of a connection.
    pub fn syn(source_port: u16, destination_port: u16, seq: u32) -> Self {
        Self::new(source_port, destination_port, seq, 0, flags::SYN)
    }
}

impl Ip {
    /// A TCP segment.
    pub fn tcp(self, tcp: Tcp, payload: &[u8]) -> IpPacket {
        self.tcp_with(tcp, &[], payload)
    }

    /// A TCP segment with options, padded to whole words.
    pub fn tcp_with(self, tcp: Tcp, options: &[u8], payload: &[u8]) -> IpPacket {
        let mut options = options.to_vec();
        options.resize(options.len().next_multiple_of(4), 0);
        let words = u8::try_from(5 + options.len() / 4).unwrap_or(15).min(15);
        let mut segment = Vec::with_capacity(20 + options.len() + payload.len());
        segment.extend_from_slice(&tcp.source_port.to_be_bytes());
        segment.extend_from_slice(&tcp.destination_port.to_be_bytes());
        segment.extend_from_slice(&tcp.seq.to_be_bytes());
        segment.extend_from_slice(&tcp.ack.to_be_bytes());
        segment.extend_from_slice(&[words << 4, tcp.flags]);
        segment.extend_from_slice(&tcp.window.to_be_bytes());
        segment.extend_from_slice(&[0; 4]);
        segment.extend_from_slice(&options);
        segment.extend_from_slice(payload);
        let sum = checksum(&segment, self.pseudo_sum(6, segment.len()));
        put(&mut segment, 16, sum);
        self.packet(6, &segment)
    }

    /// A UDP datagram.
    pub fn udp(self, source_port: u16, destination_port: u16, payload: &[u8]) -> IpPacket {
        let mut datagram = Vec::with_capacity(8 + payload.len());
        datagram.extend_from_slice(&source_port.to_be_bytes());
        datagram.extend_from_slice(&destination_port.to_be_bytes());
        datagram.extend_from_slice(&length(payload.len() + 8));
        datagram.extend_from_slice(&[0; 2]);
        datagram.extend_from_slice(payload);
        let sum = checksum(&datagram, self.pseudo_sum(17, datagram.len()));
        // RFC 768: 0 would mean that there is none.
        put(&mut datagram, 6, if sum == 0 { 0xffff } else { sum });
        self.packet(17, &datagram)
    }

    /// An ICMP or ICMPv6 message, by the addresses' family; `rest` follows the checksum.
    pub fn icmp(self, kind: u8, code: u8, rest: &[u8]) -> IpPacket {
        let mut message = vec![kind, code, 0, 0];
        message.extend_from_slice(rest);
        let (protocol, start) = if self.source.is_ipv4() {
            (1, 0)
        } else {
            (58, self.pseudo_sum(58, message.len()))
        };
        let sum = checksum(&message, start);
        put(&mut message, 2, sum);
        self.packet(protocol, &message)
    }

    /// "Port unreachable", quoting as much of a packet as is usual.
    pub fn unreachable(self, quoted: &IpPacket) -> IpPacket {
        let kept = quoted
            .bytes
            .len()
            .min(if self.source.is_ipv4() { 28 } else { 1000 });
        let mut rest = vec![0; 4];
        rest.extend_from_slice(quoted.bytes.get(..kept).unwrap_or_default());
        let (kind, code) = if self.source.is_ipv4() {
            (3, 3)
        } else {
            (1, 4)
        };
        self.icmp(kind, code, &rest)
    }

    /// An SCTP packet with one chunk of the given type (its CRC is left 0).
    pub fn sctp(self, source_port: u16, destination_port: u16, chunk: u8) -> IpPacket {
        let mut packet = Vec::with_capacity(16);
        packet.extend_from_slice(&source_port.to_be_bytes());
        packet.extend_from_slice(&destination_port.to_be_bytes());
        packet.extend_from_slice(&[0, 0, 0, 9, 0, 0, 0, 0, chunk, 0, 0, 4]);
        self.packet(132, &packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A receiver sums the pseudo-header and the segment to 0.
    #[test]
    fn checksums_verify_as_a_receiver_would() {
        for ip in [Ip::v4([9, 8, 7, 6], [5, 4, 3, 2]), Ip::v6(0xbeef, 3)] {
            for (protocol, packet) in [
                (6, ip.tcp(Tcp::syn(1, 2, 3), b"odd")),
                (17, ip.udp(1, 2, b"even")),
            ] {
                let payload = packet.payload();
                assert_eq!(
                    checksum(payload, ip.pseudo_sum(protocol, payload.len())),
                    0xffff,
                    "{packet:?}"
                );
            }
        }
    }
}
