//! Transport checksums of whole packets, now or on the worker.

use flowpin_packet::{PacketFlags, PacketKind, PacketMeta};
use flowpin_wire::checksum::{ChecksumVerdict, PseudoHeader, verify_transport};

/// Verifies the transport checksum of a packet and sets its flags.
///
/// Pure: the same verdict wherever it runs, so it may run on the worker. Verified here are TCP,
/// UDP and SCTP; dispatch itself has verified what cannot be seen from the descriptor (IP headers,
/// ICMP, packets with IPv4 options or IPv6 extension headers), and skips those here.
///
/// A partial sum is recognised by its value alone: nothing else in a packet says that the adapter
/// was to complete it. A sender can imitate that; the capture-quality report shows it.
#[inline]
pub fn verify(meta: &mut PacketMeta, frame: &[u8]) -> ChecksumVerdict {
    if !is_verified_later(meta, meta.flags.has(PacketFlags::IPV6)) {
        return ChecksumVerdict::NotChecked;
    }
    let verdict = judge(meta, frame);
    meta.flags = meta.flags.with(flags_of(verdict));
    verdict
}

/// Whether [`verify`] can verify the packet from its descriptor and frame. With options or
/// extension headers it cannot: the addresses in the pseudo-header may differ from those in the
/// header.
#[inline]
pub(crate) fn is_verified_later(meta: &PacketMeta, ipv6: bool) -> bool {
    let network_len = meta.l4_offset.wrapping_sub(meta.l3_offset);
    matches!(
        meta.kind,
        PacketKind::Tcp | PacketKind::Udp | PacketKind::Sctp
    ) && network_len == if ipv6 { 40 } else { 20 }
}

/// The flag that goes with a verdict.
#[inline]
pub(crate) const fn flags_of(verdict: ChecksumVerdict) -> PacketFlags {
    match verdict {
        ChecksumVerdict::Bad => PacketFlags::BAD_CHECKSUM,
        ChecksumVerdict::Offloaded => PacketFlags::OFFLOADED_CHECKSUM,
        ChecksumVerdict::Good | ChecksumVerdict::NotChecked => PacketFlags(0),
    }
}

#[inline]
fn judge(meta: &PacketMeta, frame: &[u8]) -> ChecksumVerdict {
    let header = frame.get(usize::from(meta.l3_offset)..).unwrap_or_default();
    let segment = frame.get(usize::from(meta.l4_offset)..).unwrap_or_default();
    let pseudo = if meta.flags.has(PacketFlags::IPV6) {
        let Some(header) = header.first_chunk::<40>() else {
            return ChecksumVerdict::NotChecked;
        };
        let (source, destination) = (header[8..24].first_chunk(), header.last_chunk());
        match (source, destination) {
            (Some(source), Some(destination)) => PseudoHeader::v6(*source, *destination),
            _ => return ChecksumVerdict::NotChecked,
        }
    } else {
        let Some(h) = header.first_chunk::<20>() else {
            return ChecksumVerdict::NotChecked;
        };
        PseudoHeader::v4([h[12], h[13], h[14], h[15]], [h[16], h[17], h[18], h[19]])
    };
    let header_len = u32::from(meta.payload_offset.wrapping_sub(meta.l4_offset));
    let len = header_len.saturating_add(meta.payload_len);
    verify_transport(pseudo, meta.protocol, segment, len)
}
