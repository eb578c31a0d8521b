//! Reading transport headers into the descriptor, now or on the worker.

pub(crate) mod checksum;
pub(crate) mod ports;

use flowpin_packet::{PacketFlags, PacketKind, PacketMeta};
use flowpin_wire::transport::{TcpSegment, UdpDatagram};

/// Reads the transport header of a packet that was dispatched without (`--cut capture`).
///
/// Cannot fail: dispatch has validated the header. Does nothing to other packets.
#[inline]
pub fn decode(meta: &mut PacketMeta, frame: &[u8]) {
    if !meta.flags.has(PacketFlags::UNDECODED) {
        return;
    }
    meta.flags = meta.flags.without(PacketFlags::UNDECODED);
    let bytes = frame.get(usize::from(meta.l4_offset)..).unwrap_or_default();
    // Of TCP and UDP only the header is needed.
    let wire_len = usize::MAX;
    match meta.kind {
        PacketKind::Tcp => {
            if let Ok(segment) = TcpSegment::parse(bytes, wire_len) {
                read_tcp(meta, &segment, identification(meta, frame));
            }
        }
        PacketKind::Udp => {
            if let Ok(datagram) = UdpDatagram::parse(bytes, wire_len) {
                let identification = identification(meta, frame);
                meta.fingerprint = fingerprint(datagram.checksum(), identification, meta.ip_len);
            }
        }
        _ => {}
    }
}

/// Copies what later stages need of a TCP header.
#[inline]
pub(crate) fn read_tcp(meta: &mut PacketMeta, segment: &TcpSegment<'_>, identification: u16) {
    meta.seq = segment.seq();
    meta.ack = segment.ack();
    meta.window = segment.window();
    meta.tcp_flags = segment.flags();
    meta.fingerprint = fingerprint(segment.checksum(), identification, meta.ip_len);
}

/// The same for a frame that was captured twice, on its way through a router too; rarely the
/// same for different packets of one connection. 0 if there is no checksum to tell payloads apart.
#[inline]
pub(crate) const fn fingerprint(checksum: u16, identification: u16, ip_len: u32) -> u32 {
    // In the order of the bytes on the wire, which saves turning them around twice.
    let (sum, identification) = (checksum.to_be(), identification.to_be());
    let mixed = ((sum as u32) << 16 | identification as u32) ^ ip_len.wrapping_mul(SPREAD);
    match (sum, mixed) {
        (0, _) => 0,
        // Never 0 by accident.
        (_, 0) => 1,
        _ => mixed,
    }
}

const SPREAD: u32 = 0x9e37_79b1;

/// IPv4's identification; 0 for IPv6.
#[inline]
fn identification(meta: &PacketMeta, frame: &[u8]) -> u16 {
    if meta.flags.has(PacketFlags::IPV6) {
        return 0;
    }
    frame
        .get(usize::from(meta.l3_offset) + 4..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |bytes| u16::from_be_bytes(*bytes))
}
