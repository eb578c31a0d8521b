//! A reassembler allocates nothing after its construction, whatever segments come.

mod support;

use flowpin_config::SegmentOverlap;
use flowpin_memory::CountingAllocator;
use flowpin_packet::{FrameBytes, PacketKind, PacketMeta, Seq, TcpFlags};
use flowpin_reassembly::{Reassembler, ReassemblyOptions};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Handshakes, data in and out of order, overlaps, floods of holes, resets and ends.
#[test]
fn no_segment_allocates() {
    let options = ReassemblyOptions {
        memory_bytes: 256 << 14,
        ..support::options(SegmentOverlap::Linux)
    };
    let mut reassembler = Reassembler::new(&options, 256, 64).unwrap();
    let bytes = [7; 4000];
    let frames = FrameBytes {
        piece: &bytes,
        extra: &[],
    };
    let before = CountingAllocator::count_here();
    let mut dice = 1u32;
    for nth in 0..20_000u32 {
        dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let handle = nth % 64;
        let flags = match dice >> 28 {
            0 => TcpFlags::SYN,
            1 => TcpFlags::FIN,
            2 => TcpFlags::RST,
            _ => TcpFlags::ACK,
        };
        let meta = PacketMeta {
            kind: PacketKind::Tcp,
            captured_len: 4000,
            payload_len: dice >> 8 & 0xfff,
            seq: Seq(dice >> 12 & 0x3fff),
            window: 60_000,
            tcp_flags: flags,
            ..PacketMeta::default()
        };
        let begins = dice & 0x1f0 == 0;
        reassembler.segment(&frames, &meta, handle, dice & 1 == 0, begins, &mut ());
        if dice & 0x3e00 == 0 {
            reassembler.end(handle, &mut ());
        }
    }
    assert_eq!(CountingAllocator::count_here() - before, 0);
    let stats = reassembler.stats();
    assert_eq!(stats.received(), stats.accounted());
    assert!(stats.shard_cap_reached > 0 && stats.out_of_order > 0);
}
