//! TCP and UDP headers.

use super::refusal::{Refusal, SlowReason};
use crate::transport::ports::{may_be_tunnel, may_hold_ipv6};
use flowpin_packet::{PacketKind, PacketMeta, Seq, TcpFlags};
use flowpin_wire::ip_protocol;

/// What the network header says about the transport header.
#[derive(Clone, Copy)]
pub(super) struct Carried {
    /// The IP protocol; greater than 255 for a fragment.
    pub(super) protocol: u32,
    /// Where the transport header starts.
    pub(super) l4_offset: u32,
    /// Length of the network header.
    pub(super) network_len: u32,
    /// Length of the packet, with the network header.
    pub(super) ip_len: u32,
}

/// Reads the transport header at the start of `l4` into `meta`, except for the fingerprint, and
/// returns its checksum.
#[inline(always)]
pub(super) fn read<const DECODE: bool, R: Refusal>(
    l4: &[u8],
    carried: &Carried,
    meta: &mut PacketMeta,
) -> Result<u16, R> {
    meta.ip_len = carried.ip_len;
    meta.l4_offset = carried.l4_offset as u16;
    meta.icmp_code = 0;
    if carried.protocol == u32::from(ip_protocol::TCP) {
        let header = l4.first_chunk().ok_or_else(impossible)?;
        tcp::<DECODE, R>(header, carried, meta)
    } else if carried.protocol == u32::from(ip_protocol::UDP) {
        udp(l4, carried, meta)
    } else {
        Err(R::because(match u8::try_from(carried.protocol) {
            Ok(protocol) => SlowReason::Protocol(protocol),
            Err(_) => SlowReason::Fragment,
        }))
    }
}

#[inline(always)]
fn impossible<R: Refusal>() -> R {
    R::because(SlowReason::TransportHeader)
}

#[inline(always)]
fn tcp<const DECODE: bool, R: Refusal>(
    h: &[u8; 20],
    carried: &Carried,
    meta: &mut PacketMeta,
) -> Result<u16, R> {
    let header_len = u32::from(h[12] >> 4) << 2;
    // RFC 9293 §3.1: the data offset is 5 at least.
    if header_len < 20 {
        return Err(impossible());
    }
    meta.payload_len = carried
        .ip_len
        .checked_sub(carried.network_len + header_len)
        .ok_or_else(impossible)?;
    meta.payload_offset = (carried.l4_offset + header_len) as u16;
    (meta.kind, meta.protocol) = (PacketKind::Tcp, ip_protocol::TCP);
    if DECODE {
        meta.seq = Seq(u32::from_be_bytes([h[4], h[5], h[6], h[7]]));
        meta.ack = Seq(u32::from_be_bytes([h[8], h[9], h[10], h[11]]));
        meta.tcp_flags = TcpFlags(h[13]);
        meta.window = u16::from_be_bytes([h[14], h[15]]);
    } else {
        clear(meta);
    }
    Ok(u16::from_be_bytes([h[16], h[17]]))
}

#[inline(always)]
fn udp<R: Refusal>(l4: &[u8], carried: &Carried, meta: &mut PacketMeta) -> Result<u16, R> {
    let h: &[u8; 8] = l4.first_chunk().ok_or_else(impossible)?;
    let length = u32::from(u16::from_be_bytes([h[4], h[5]]));
    let from = u16::from_be_bytes([h[0], h[1]]);
    let to = u16::from_be_bytes([h[2], h[3]]);
    if length + carried.network_len > carried.ip_len || may_be_tunnel(from, to) {
        return Err(R::because(match may_be_tunnel(from, to) {
            true => SlowReason::TunnelPort,
            false => SlowReason::TransportHeader,
        }));
    }
    let payload_len = length.checked_sub(8).ok_or_else(impossible)?;
    // A datagram too short for these bytes, or cut before them, cannot be read as IPv6.
    if let Some(&[.., version, _, _, _, len_high, len_low]) = l4.first_chunk::<14>()
        && may_hold_ipv6(
            version,
            u16::from_be_bytes([len_high, len_low]),
            payload_len,
        )
    {
        return Err(R::because(SlowReason::TunnelPayload));
    }
    meta.payload_len = payload_len;
    meta.payload_offset = (carried.l4_offset + 8) as u16;
    (meta.kind, meta.protocol) = (PacketKind::Udp, ip_protocol::UDP);
    clear(meta);
    Ok(u16::from_be_bytes([h[6], h[7]]))
}

/// The fields of a transport header that was not read, or that has none of them.
#[inline(always)]
fn clear(meta: &mut PacketMeta) {
    (meta.seq, meta.ack, meta.window) = (Seq(0), Seq(0), 0);
    (meta.tcp_flags, meta.fingerprint) = (TcpFlags(0), 0);
}
