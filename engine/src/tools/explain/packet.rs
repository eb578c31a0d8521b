//! What the input stage knows of a packet: the blank account, its key, its checksum.

use super::account::{PacketAccount, PacketView};
use core::net::IpAddr;
use flowpin_counters::{Loss, Losses};
use flowpin_dispatch::{ChecksumVerdict, Headers};
use flowpin_packet::{
    Endpoints, FrameBytes, LinkType, PacketFlags, PacketKind, PacketMeta, Timestamp,
};

/// An account of which nothing is known but its number.
pub(super) fn blank(number: u64) -> PacketAccount {
    PacketAccount {
        number,
        time: Timestamp(0),
        stream_time: Timestamp(0),
        link: LinkType::Ethernet,
        captured_len: 0,
        wire_len: 0,
        headers: Headers::default(),
        fragment_headers: None,
        slow_path: None,
        fates: Vec::new(),
        packet: None,
        connection: None,
        scans: None,
        streams: None,
        inspect: None,
        completion: None,
        losses: Vec::new(),
        ended: Vec::new(),
        records: Vec::new(),
    }
}

/// What a packet's key, checksum and shard are. `workers`: of how many, if that is known.
pub(super) fn packet_view(
    meta: &PacketMeta,
    frame: &[u8],
    (verifies, workers): (bool, Option<usize>),
) -> PacketView {
    // Ends are read in the frame; a reassembled one lies at its beginning.
    let placed = PacketMeta {
        frame_start: 0,
        flags: PacketFlags(meta.flags.0 & !PacketFlags::REASSEMBLED.0),
        ..*meta
    };
    let frames = FrameBytes {
        piece: frame,
        extra: &[],
    };
    let Endpoints { low, high } = frames.endpoints(&placed);
    let ipv6 = meta.key.is_ipv6();
    let address = |bytes| -> IpAddr { Endpoints::address(bytes, ipv6) };
    let (low_port, high_port) = meta.key.ports();
    let verdict = checksum(placed, frame);
    let shard = meta.shard().0;
    PacketView {
        kind: meta.kind,
        protocol: meta.protocol,
        ends: [(address(low), low_port), (address(high), high_port)],
        high_to_low: meta.high_to_low(),
        payload_len: meta.payload_len,
        checksum: verifies.then_some(verdict),
        shard,
        worker: workers.map(|count| (usize::from(shard) % count, count)),
    }
}

/// What dispatch, or the worker for it, says of a packet's checksum.
fn checksum(mut meta: PacketMeta, frame: &[u8]) -> ChecksumVerdict {
    let flags = meta.flags;
    let is_icmp = matches!(meta.kind, PacketKind::Icmp | PacketKind::IcmpError);
    match flowpin_dispatch::verify(&mut meta, frame) {
        // What is not verified from the descriptor, the slow path has verified.
        ChecksumVerdict::NotChecked if flags.has(PacketFlags::BAD_CHECKSUM) => ChecksumVerdict::Bad,
        ChecksumVerdict::NotChecked if flags.has(PacketFlags::OFFLOADED_CHECKSUM) => {
            ChecksumVerdict::Offloaded
        }
        ChecksumVerdict::NotChecked if is_icmp && !flags.has(PacketFlags::SNAPPED) => {
            ChecksumVerdict::Good
        }
        verdict => verdict,
    }
}

/// What was counted since.
pub(super) fn difference(before: &Losses, after: &Losses) -> Vec<(Loss, u64)> {
    let grown = after
        .iter()
        .map(|(loss, count)| (loss, count - before.of(loss)));
    grown.filter(|&(_, count)| count > 0).collect()
}
