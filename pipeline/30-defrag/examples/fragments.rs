//! What a fragment costs the defragmenter alone: `fragments CAPTURE [ROUNDS]`, under `perf stat`.
//!
//! The capture holds IPv4 fragments in Ethernet frames, as testkit's `fragment` writes them. Two
//! runs with different rounds, subtracted, leave out what it takes to read the capture.

use flowpin_defrag::{DefragOptions, Defragmenter, Inserted};
use flowpin_packet::{FragmentRef, Timestamp};
use flowpin_testkit::pcap::Capture;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [capture, rounds] = words.as_slice() else {
        eprintln!("usage: fragments CAPTURE ROUNDS");
        return Ok(());
    };
    let capture = Capture::open(Path::new(capture))?;
    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    let mut extra = Vec::new();
    let mut now = 0;
    for _ in 0..rounds.parse().unwrap_or(1) {
        for packet in &capture.packets {
            now += 1000;
            let bytes = capture.data(packet);
            let Some(fragment) = describe(bytes, now) else {
                continue;
            };
            if let Inserted::Complete(ready) = defragmenter.insert(bytes, &fragment, 0) {
                extra.clear();
                let _ = defragmenter.assemble(ready, bytes, &fragment, &mut extra);
            }
        }
    }
    let stats = defragmenter.stats();
    println!(
        "{} fragments, {} datagrams, {} bytes allocated",
        stats.received,
        stats.datagrams,
        defragmenter.allocated_bytes()
    );
    Ok(())
}

fn describe(bytes: &[u8], now: u64) -> Option<FragmentRef> {
    let header = bytes.get(14..34)?;
    let len = u16::from_be_bytes([header[2], header[3]]).checked_sub(20)?;
    let word = u16::from_be_bytes([header[6], header[7]]);
    Some(FragmentRef {
        header_start: 14,
        payload_start: 34,
        unfragmentable_len: 20,
        captured_len: len,
        payload_len: len,
        offset: (word & 0x1fff) << 3,
        more: word & 0x2000 != 0,
        protocol: header[9],
        id: u32::from(u16::from_be_bytes([header[4], header[5]])),
        stream_time: Timestamp(now),
        ..FragmentRef::default()
    })
}
