//! Transport headers: TCP, UDP, SCTP, ICMP and ICMPv6.

mod icmp;
mod ports;
mod sctp;
mod tcp;
mod tcp_options;
mod udp;

pub use icmp::{IcmpFamily, IcmpKind, IcmpMessage};
pub use ports::Ports;
pub use sctp::{SctpChunk, SctpChunks, SctpPacket};
pub use tcp::TcpSegment;
pub use tcp_options::{SackBlock, TcpOption, TcpOptions};
pub use udp::UdpDatagram;
