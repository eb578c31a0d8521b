//! What attackers and bad captures can make a reassembler hold, or do.

mod support;

use flowpin_config::SegmentOverlap;
use flowpin_reassembly::{Anomaly, ReassemblyOptions};
use flowpin_testkit::oracle::segments::Told;
use proptest::prelude::*;
use support::{Out, SYN, World, options};

/// So small that each shard holds a few segments.
fn small(shard_bytes: u64, stream_bytes_max: u32) -> ReassemblyOptions {
    ReassemblyOptions {
        memory_bytes: shard_bytes * 256,
        stream_bytes_max,
        ..options(SegmentOverlap::First)
    }
}

fn begin(world: &mut World, handle: u32, shard: u8) {
    world.send(&Out {
        handle,
        shard,
        flags: SYN,
        seq: 99,
        begins: true,
        ..Out::default()
    });
}

/// Each byte after a hole of its own costs a block; neither the stream's cap nor the shard's is
/// exceeded, and held bytes are delivered.
#[test]
fn one_byte_segments_stay_within_the_caps() {
    let mut world = World::new(&small(64 << 10, 16 << 10));
    begin(&mut world, 3, 0);
    for nth in 0..20_000u32 {
        world.send(&Out {
            seq: 102 + 2 * nth,
            bytes: b"x",
            ..Out::default()
        });
        assert!(world.reassembler.stats().memory_bytes <= 17 << 10);
    }
    world.end(3);
    let stats = world.reassembler.stats();
    assert!(stats.stream_cap_reached > 19_000);
    assert_eq!((stats.delivered, stats.no_room), (20_000, 0));
    assert_eq!((stats.memory_bytes, stats.held), (0, 0));
}

/// A flood of holes evicts the oldest holes, which are its own: honest segments slightly out of
/// order still find room.
#[test]
fn an_honest_stream_is_read_in_a_flood_of_holes() {
    let mut world = World::new(&small(64 << 10, 16 << 10));
    begin(&mut world, 3, 0);
    let mut next = 100;
    for flood in 0..3_000 {
        let handle = 10 + flood;
        begin(&mut world, handle, 0);
        world.send(&Out {
            handle,
            seq: 5_000,
            bytes: &[b'f'; 1400],
            ..Out::default()
        });
        if flood % 7 == 0 {
            for seq in [next + 3, next] {
                world.send(&Out {
                    seq,
                    bytes: b"abc",
                    ..Out::default()
                });
            }
            next += 6;
        }
        assert!(world.reassembler.stats().memory_bytes <= 64 << 10);
    }
    let want = "abc".repeat(usize::try_from(next - 100).unwrap() / 3);
    assert_eq!(world.text(true), want, "no gap");
    assert!(world.reassembler.stats().shard_cap_reached > 2_000);
}

/// No room at all: bytes are counted, nothing panics.
#[test]
fn without_memory_only_order_is_read() {
    let mut world = World::new(&small(0, 0));
    begin(&mut world, 3, 0);
    for (seq, bytes) in [(100, "ab"), (104, "ef"), (102, "cd"), (104, "ef")] {
        world.send(&Out {
            seq,
            bytes: bytes.as_bytes(),
            ..Out::default()
        });
    }
    assert_eq!(world.text(true), "abcdef");
    assert_eq!(world.reassembler.stats().no_room, 2);
}

/// A handle that the connection table could not give out is counted.
#[test]
fn a_handle_beyond_the_promised_number_is_counted() {
    let mut world = World::new(&options(SegmentOverlap::First));
    world.send(&Out {
        handle: u32::MAX,
        bytes: b"lost",
        begins: true,
        ..Out::default()
    });
    assert_eq!(world.reassembler.stats().no_room, 4);
}

/// One direction with a hole at its start and a million segments after it, in the worst order: the
/// work per segment grows as the logarithm of the number held.
#[test]
fn a_segment_costs_the_logarithm_of_what_is_held() {
    let pieces = 1u32 << 16;
    // Held pieces, and whether the order is forward, backward or scattered.
    for order in 0..3u32 {
        let mut world = World::new(&small(64 << 20, 64 << 20));
        begin(&mut world, 3, 0);
        let mut worst = 0;
        for nth in 0..pieces {
            let at = match order {
                0 => nth,
                1 => pieces - 1 - nth,
                _ => nth.reverse_bits() >> 16,
            };
            let before = world.reassembler.stats().steps;
            world.send(&Out {
                seq: 102 + 2 * at,
                bytes: b"x",
                ..Out::default()
            });
            worst = worst.max(world.reassembler.stats().steps - before);
        }
        let stats = world.reassembler.stats();
        assert_eq!(stats.held, u64::from(pieces));
        // Some five descents of a tree of depth 2 to 3 × 16.
        assert!(
            stats.steps / u64::from(pieces) < 6 * 2 * 16,
            "{}",
            stats.steps
        );
        assert!(worst < 12 * 3 * 16, "{worst}");
    }
}

/// With default caps, a million segments after a hole hold no more than one stream may.
#[test]
fn a_million_segments_behind_a_hole_hold_one_streams_share() {
    let mut world = World::new(&options(SegmentOverlap::First));
    begin(&mut world, 3, 0);
    for nth in 0..1_000_000u32 {
        world.send(&Out {
            seq: 102 + 20 * nth,
            bytes: b"0123456789",
            ..Out::default()
        });
    }
    let stats = world.reassembler.stats();
    assert!(stats.memory_bytes_max <= 1 << 20, "{stats:?}");
    assert_eq!(stats.delivered + stats.held, 10_000_000);
    assert!(stats.steps / 1_000_000 < 150, "{}", stats.steps);
}

/// A segment over many small pieces costs as many steps as it has bytes, not more.
#[test]
fn a_segment_over_small_pieces_costs_its_length() {
    let mut world = World::new(&options(SegmentOverlap::First));
    begin(&mut world, 3, 0);
    for nth in 0..700u32 {
        world.send(&Out {
            seq: 102 + 2 * nth,
            bytes: b"x",
            ..Out::default()
        });
    }
    let before = world.reassembler.stats().steps;
    for _ in 0..100 {
        world.send(&Out {
            seq: 101,
            bytes: &[b'y'; 1400],
            ..Out::default()
        });
    }
    let steps = world.reassembler.stats().steps - before;
    assert!(steps / 100 < 1400 * 2 * 12, "{steps}");
    assert!(world.log.anomalies.contains(&Anomaly::OverlapDiffers));
}

/// A segment for one of a few connections, in one of a few shards.
fn traffic() -> impl Strategy<Value = Vec<(u32, u32, usize)>> {
    prop::collection::vec((0u32..24, 0u32..40, 1usize..3), 1..400)
}

fn play(worlds: &mut [World], traffic: &[(u32, u32, usize)]) -> Vec<(u32, Vec<Told>)> {
    let count = worlds.len() as u32;
    for (nth, &(connection, at, len)) in traffic.iter().enumerate() {
        let shard = (connection % 4) as u8;
        let world = &mut worlds[(u32::from(shard) % count) as usize];
        let text = [b'a' + (nth % 26) as u8; 200];
        world.send(&Out {
            handle: connection,
            shard,
            seq: 100 + 100 * at,
            bytes: &text[..100 * len],
            ..Out::default()
        });
    }
    let mut told = Vec::new();
    for connection in 0..24 {
        let world = &mut worlds[(connection % 4 % count) as usize];
        world.end(connection);
        let stream = world.log.streams.get(&(connection, true));
        told.push((connection, stream.cloned().unwrap_or_default()));
    }
    told
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Reports depend on the shard's packets alone, also when caps evict: one reassembler for all
    /// shards, or one for each.
    #[test]
    fn evictions_depend_on_the_shard_alone(traffic in traffic()) {
        let caps = small(4 << 10, 2 << 10);
        let mut one = [World::new(&caps)];
        let mut four = [0; 4].map(|_| World::new(&caps));
        let told = play(&mut one, &traffic);
        prop_assert_eq!(told, play(&mut four, &traffic));
        prop_assert_eq!(one[0].reassembler.stats().memory_bytes, 0);
    }

    /// Honest segments, however they are cut, reordered and repeated, give the stream.
    #[test]
    fn any_arrival_order_gives_the_stream(
        sent in prop::collection::vec(any::<u8>(), 1..3000),
        isn in prop_oneof![any::<u32>(), (u32::MAX - 2000)..=u32::MAX],
        cuts in prop::collection::vec(1usize..400, 1..40),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..80),
    ) {
        let mut segments = Vec::new();
        let mut from = 0;
        for cut in cuts.iter().cycle() {
            let to = (from + cut).min(sent.len());
            segments.push((from, to));
            from = to;
            if from == sent.len() {
                break;
            }
        }
        let repeated = order.iter().map(|index| segments[index.index(segments.len())]);
        let mut arrival: Vec<_> = repeated.collect();
        arrival.extend(segments.iter().rev());
        for &(policy, ..) in <SegmentOverlap as flowpin_config::Named>::ALL {
            let mut world = World::new(&options(policy));
            world.handshake(isn, 500, 65_535);
            for &(from, to) in &arrival {
                world.send(&Out {
                    seq: isn.wrapping_add(from as u32),
                    ack: 500,
                    bytes: &sent[from..to],
                    ..Out::default()
                });
            }
            let want = [Told::Data(0, sent.clone())];
            prop_assert_eq!(world.told(true), &want);
            prop_assert_eq!(&world.log.anomalies, &[]);
        }
    }
}
