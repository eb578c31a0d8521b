//! Dispatches every packet of a capture a number of times and says how many there were: for
//! instruction counts (`perf stat -e instructions:u`, `valgrind --tool=callgrind`) and timings.
//!
//! Usage: `measure FILE.pcap [REPEAT] [walk|decode|nodecode|checksums] [FRAMES]`. With few FRAMES
//! (500, say) the bytes stay in the cache, as they do after a read. Reads classic pcap in native
//! byte order only.

use flowpin_dispatch::{Clock, DispatchOptions, Dispatched, Dispatcher};
use flowpin_packet::{Frame, InterfaceId, LinkType, PacketMeta, Timestamp};
use std::hint::black_box;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(bytes) = arguments.get(1).and_then(|path| std::fs::read(path).ok()) else {
        eprintln!("usage: measure FILE.pcap [REPEAT] [walk|decode|nodecode|checksums]");
        std::process::exit(2);
    };
    let repeat = arguments
        .get(2)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let mode = arguments.get(3).map_or("decode", String::as_str);
    let mut frames = frames(&bytes);
    frames.truncate(
        arguments
            .get(4)
            .and_then(|text| text.parse().ok())
            .unwrap_or(usize::MAX),
    );
    let checks = mode == "checksums";
    let mut dispatcher = Dispatcher::new(DispatchOptions {
        verify_network: checks,
        checksums: checks,
        decode: mode != "nodecode",
        ..DispatchOptions::default()
    });
    let start = std::time::Instant::now();
    let (count, packets, mix) = if mode == "walk" {
        walk(&frames, repeat)
    } else if dispatcher.decodes() {
        dispatch::<true>(&mut dispatcher, &bytes, &frames, repeat)
    } else {
        dispatch::<false>(&mut dispatcher, &bytes, &frames, repeat)
    };
    let ns = start.elapsed().as_nanos() as f64 / count as f64;
    println!("{count} frames, {packets} packets, {ns:.1} ns each, {mix:08x}");
}

/// The loop alone, to subtract.
fn walk(frames: &[Frame], repeat: u32) -> (u64, u64, u32) {
    let (mut count, mut mix) = (0, 0);
    for _ in 0..repeat {
        let mut clock = Clock::new(3_600_000_000_000);
        for frame in frames {
            count += 1;
            clock.observe(frame.time);
            mix ^= black_box(frame.start);
        }
    }
    (count, 0, mix)
}

/// Dispatches all frames as the input stage does: the fast path is inlined into the loop.
#[inline(never)]
fn dispatch<const DECODE: bool>(
    dispatcher: &mut Dispatcher,
    bytes: &[u8],
    frames: &[Frame],
    repeat: u32,
) -> (u64, u64, u32) {
    let mut batch = [PacketMeta::default(); 32];
    let (mut packets, mut count, mut mix) = (0u64, 0u64, 0u32);
    for _ in 0..repeat {
        let mut clock = Clock::new(3_600_000_000_000);
        let mut filled = 0;
        for frame in frames {
            count += 1;
            let now = clock.observe(frame.time);
            let Some(meta) = batch.get_mut(filled) else {
                break;
            };
            let is_packet = dispatcher.dispatch_fast::<DECODE>(bytes, frame, count, now, meta)
                || dispatcher.dispatch_slow(bytes, *frame, count, now, meta) == Dispatched::Packet;
            if is_packet {
                packets += 1;
                mix ^= meta.hash;
                filled = (filled + 1) % 32;
            }
        }
        black_box(&batch);
    }
    (count, packets, mix)
}

fn frames(bytes: &[u8]) -> Vec<Frame> {
    let word =
        |at: usize| -> Option<u32> { Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?)) };
    let mut frames = Vec::new();
    let mut at = 24;
    while let (Some(secs), Some(micros), Some(captured_len), Some(wire_len)) =
        (word(at), word(at + 4), word(at + 8), word(at + 12))
    {
        let time = Timestamp::new(u64::from(secs), micros * 1000);
        let start = at as u32 + 16;
        frames.push(Frame {
            start,
            captured_len,
            wire_len,
            link: LinkType::Ethernet,
            interface: InterfaceId::NONE,
            time,
        });
        at += 16 + captured_len as usize;
    }
    frames
}
