//! Nothing is allocated per frame, nor per piece once buffers have their size.
#![allow(clippy::unwrap_used, reason = "tests")]

use flowpin_capture::{Options, PcapWriter, PcapngWriter, Precision, Source};
use flowpin_memory::CountingAllocator;
use flowpin_packet::{Piece, Timestamp};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const FRAMES: u32 = 40_000;

fn frames() -> impl Iterator<Item = (Timestamp, Vec<u8>)> {
    (0..FRAMES).map(|i| {
        let time = Timestamp(u64::from(i) * 1_000_000);
        (time, vec![1; i as usize % 1500])
    })
}

fn pcap() -> Vec<u8> {
    let mut out = PcapWriter::new(Vec::new(), 1, Precision::Micros).unwrap();
    for (time, bytes) in frames() {
        out.write(time, 2000, &bytes).unwrap();
    }
    out.into_inner()
}

fn pcapng() -> Vec<u8> {
    let mut out = PcapngWriter::new(Vec::new()).unwrap();
    out.add_interface(1, "").unwrap();
    for (time, bytes) in frames() {
        out.write(0, time, 2000, &bytes).unwrap();
    }
    out.into_inner()
}

/// Allocations of each piece: its filling and its walk.
fn allocations(captures: Vec<Vec<u8>>, filter: &str) -> Vec<u64> {
    let options = Options {
        filter: filter.to_owned(),
        ..Options::default()
    };
    let named = captures.into_iter().map(|bytes| ("c".into(), bytes));
    let mut source = Source::from_memory(named.collect(), &options).unwrap();
    let (mut piece, mut counts, mut found) = (Piece::default(), Vec::with_capacity(1000), 0);
    loop {
        let before = CountingAllocator::count_here();
        let more = source.fill(&mut piece).unwrap();
        let mut walk = source.walk(&piece);
        while walk.next_frame().is_some() {
            found += 1;
        }
        drop(walk);
        if !more {
            break;
        }
        counts.push(CountingAllocator::count_here() - before);
    }
    assert!(found >= FRAMES / 2);
    counts
}

/// Promise: no allocation per packet. The first pieces size the buffers, all others use them:
/// with either format, a filter, and several captures merged.
#[test]
fn nothing_is_allocated_once_buffers_have_their_size() {
    for (what, captures, filter) in [
        ("pcap", vec![pcap()], ""),
        ("pcapng", vec![pcapng()], ""),
        ("filtered", vec![pcap()], "greater 100"),
        ("merged", vec![pcap(), pcapng(), pcap()], ""),
    ] {
        let counts = allocations(captures, filter);
        assert!(counts.len() > 50, "{what}: {counts:?}");
        let late: u64 = counts.iter().skip(10).sum();
        assert_eq!(late, 0, "{what}: {counts:?}");
    }
}
