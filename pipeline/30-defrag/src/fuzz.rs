//! Entry point for fuzzing.

use crate::{DefragOptions, Defragmenter, Inserted};
use flowpin_packet::{FragmentRef, Timestamp};

/// Makes fragments out of `data` and inserts them into a small defragmenter: eight bytes say
/// what the fragment claims, and its bytes follow.
pub fn fuzz_defrag(data: &[u8]) {
    let mut defragmenter = Defragmenter::new(DefragOptions {
        memory_bytes: MEMORY_BYTES,
        host_bytes: 24 << 10,
        datagram_bytes: 20 << 10,
        fragments_max: 8,
        ..DefragOptions::default()
    });
    let mut extra = Vec::new();
    let mut now = 0u64;
    let mut rest = data;
    while let Some((
        &[
            kind,
            id,
            offset_high,
            offset_low,
            claimed,
            captured,
            wait,
            header,
        ],
        bytes,
    )) = rest.split_first_chunk()
    {
        now = now.saturating_add(u64::from(wait).saturating_mul(1 << 28));
        let ipv6 = kind & 1 != 0;
        let captured_len = u16::from(captured).min(u16::from(claimed));
        let fragment = FragmentRef {
            payload_start: u32::from(header),
            unfragmentable_len: u16::from(header),
            next_header_at: u16::from(header >> 1),
            captured_len,
            payload_len: u16::from(claimed) << (kind >> 6),
            offset: u16::from_be_bytes([offset_high & kind, offset_low]) & 0xfff8,
            more: kind & 2 != 0,
            ipv6,
            protocol: kind >> 2 & 1,
            id: u32::from(id & 3),
            stream_time: Timestamp(now),
            ..FragmentRef::default()
        };
        if let Inserted::Complete(ready) = defragmenter.insert(bytes, &fragment, 0) {
            extra.clear();
            let datagram = defragmenter.assemble(ready, bytes, &fragment, &mut extra);
            assert!(datagram.captured_len <= datagram.len);
            assert!(datagram.len <= 65_535 + 40);
        }
        let stats = defragmenter.stats();
        assert_eq!(stats.accounted(), stats.received);
        assert!(defragmenter.allocated_bytes() <= MEMORY_BYTES);
        rest = bytes.get(usize::from(captured >> 3)..).unwrap_or_default();
    }
}

const MEMORY_BYTES: u64 = 48 << 10;
