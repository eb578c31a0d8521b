//! The commonest frame: Ethernet without tags, IPv4 without options, TCP or UDP.
//!
//! ```text
//!  0          14                34              42           54
//!  │ Ethernet │ IPv4            │ UDP           │ …payload   │
//!  │          │                 │ TCP                        │ options, payload
//! ```
//!
//! One comparison says that all of it is there; then everything stands at fixed offsets. Made to
//! be inlined into the walk, so that the frame's fields stay in registers. At the first sign of
//! anything else `None` is returned and [`crate::straight`] starts from the beginning; it gives the
//! same answer for packets that this one accepts, so nothing is decided here.

use crate::pin::hash::Hasher;
use crate::pin::key::ipv4_key;
use crate::straight::{Origin, down};
use crate::transport::fingerprint;
use crate::transport::ports::{may_be_tunnel, may_hold_ipv6};
use flowpin_packet::{Frame, LinkType, PacketFlags, PacketKind, PacketMeta, Seq, TcpFlags};
use flowpin_wire::{ether_type, ip_protocol};

/// Bytes of the longest stack of headers that is read here.
const HEADERS: usize = 54;

/// Fills `meta`, but for checksums; leaves anything in it if `None` is returned.
// PERF: the frame's fields are stored before the headers are read, and the transport header is
// read before the key is made: each needs the registers of what went before.
#[inline(always)]
pub(crate) fn describe(
    captured: &[u8],
    frame: &Frame,
    origin: Origin,
    hasher: &Hasher,
    meta: &mut PacketMeta,
) -> Option<()> {
    let h: &[u8; HEADERS] = captured.first_chunk()?;
    let ip_len = u32::from(u16::from_be_bytes([h[16], h[17]]));
    // One word for "more fragments", the fragment's offset and the protocol. Time to live lies in
    // between.
    let what = u32::from_be_bytes(*h[20..24].first_chunk()?) & 0x3fff_00ff;
    if [h[12], h[13]] != ether_type::IPV4.to_be_bytes()
        || h[14] != 0x45
        || 14 + ip_len > frame.wire_len
    {
        return None;
    }
    meta.time = frame.time;
    meta.stream_time = origin.stream_time;
    meta.number = origin.number;
    meta.frame_start = frame.start;
    meta.captured_len = frame.captured_len;
    meta.wire_len = frame.wire_len;
    meta.link = LinkType::Ethernet;
    transport(h, what, ip_len, meta)?;
    meta.ip_len = ip_len;
    (meta.l3_offset, meta.l4_offset) = (14, 34);

    let source = u32::from_be_bytes([h[26], h[27], h[28], h[29]]);
    let destination = u32::from_be_bytes([h[30], h[31], h[32], h[33]]);
    let ports = u32::from_be_bytes([h[34], h[35], h[36], h[37]]);
    let (from, to) = ((ports >> 16) as u16, ports as u16);
    let (key, high_to_low) = ipv4_key(source, destination, from, to, what as u8, 0);
    meta.key = key;
    meta.hash = hasher.ipv4(key);
    meta.flags = PacketFlags(down(high_to_low));
    Some(())
}

/// Reads the transport header. `what` is the protocol, or something else of a fragment.
#[inline(always)]
fn transport(h: &[u8; HEADERS], what: u32, ip_len: u32, meta: &mut PacketMeta) -> Option<()> {
    let checksum = if what == u32::from(ip_protocol::TCP) {
        let header_len = u32::from(h[46] >> 4) << 2;
        if header_len < 20 {
            return None;
        }
        meta.payload_len = ip_len.checked_sub(20 + header_len)?;
        meta.payload_offset = (34 + header_len) as u16;
        (meta.icmp_code, meta.kind, meta.protocol) = (0, PacketKind::Tcp, ip_protocol::TCP);
        meta.seq = Seq(u32::from_be_bytes([h[38], h[39], h[40], h[41]]));
        meta.ack = Seq(u32::from_be_bytes([h[42], h[43], h[44], h[45]]));
        meta.tcp_flags = TcpFlags(h[47]);
        meta.window = u16::from_be_bytes([h[48], h[49]]);
        u16::from_be_bytes([h[50], h[51]])
    } else if what == u32::from(ip_protocol::UDP) {
        let length = u32::from(u16::from_be_bytes([h[38], h[39]]));
        let from = u16::from_be_bytes([h[34], h[35]]);
        let to = u16::from_be_bytes([h[36], h[37]]);
        if length + 20 > ip_len || may_be_tunnel(from, to) {
            return None;
        }
        let payload_len = length.checked_sub(8)?;
        if may_hold_ipv6(h[42], u16::from_be_bytes([h[46], h[47]]), payload_len) {
            return None;
        }
        meta.payload_len = payload_len;
        meta.payload_offset = 42;
        (meta.icmp_code, meta.kind, meta.protocol) = (0, PacketKind::Udp, ip_protocol::UDP);
        (meta.seq, meta.ack, meta.window) = (Seq(0), Seq(0), 0);
        meta.tcp_flags = TcpFlags(0);
        u16::from_be_bytes([h[40], h[41]])
    } else {
        return None;
    };
    meta.fingerprint = fingerprint(checksum, u16::from_be_bytes([h[18], h[19]]), ip_len);
    Some(())
}
