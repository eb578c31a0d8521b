//! The same random segments through the reassembler and through a slow, obvious model.

mod support;

use flowpin_config::{Named, SegmentOverlap};
use flowpin_reassembly::Anomaly;
use flowpin_testkit::oracle::segments::SlowStream;
use proptest::prelude::*;
use support::{Out, World, options};

/// Events of the client's stream.
#[derive(Clone, Debug)]
enum Step {
    Segment { at: i64, bytes: Vec<u8> },
    Acknowledge { to: u64, window: u16 },
}

/// Offsets in a small world, so that most segments overlap; sometimes in a large one, so that
/// segments take several blocks.
fn step(scale: usize) -> impl Strategy<Value = Step> {
    let most = 60 * scale as i64;
    let byte = prop_oneof![Just(b'a'), Just(b'b'), any::<u8>()];
    let segment = (
        -5 * scale as i64..most,
        0usize..12 * scale,
        byte,
        any::<bool>(),
    )
        .prop_map(|(at, len, byte, plain)| {
            let pattern = |nth| {
                if plain {
                    byte
                } else {
                    byte.wrapping_add((nth % 7) as u8)
                }
            };
            let bytes = (0..len).map(pattern).collect();
            Step::Segment { at, bytes }
        });
    let windows = prop_oneof![Just(65_535u16), Just(0), 1u16..40];
    let acknowledge =
        (0..most as u64, windows).prop_map(|(to, window)| Step::Acknowledge { to, window });
    prop_oneof![6 => segment, 1 => acknowledge]
}

fn compare(policy: SegmentOverlap, isn: u32, window: Option<u16>, steps: &[Step], fill: usize) {
    let mut world = World::new(&options(policy));
    let mut slow = SlowStream::new(policy.name(), window.map(u64::from));
    match window {
        Some(window) => world.handshake(isn, 500, window),
        // One direction only: its second acknowledgement shows that there is nothing to wait for.
        None => {
            let syn = Out {
                flags: support::SYN,
                seq: isn.wrapping_sub(1),
                begins: true,
                ..Out::default()
            };
            world.send(&syn);
            for ack in [499, 500] {
                world.send(&Out {
                    seq: isn,
                    ack,
                    ..Out::default()
                });
            }
        }
    }
    let mut ack_of_server = 500;
    let all: Vec<u8> = (0..fill).map(|nth| b'A' + (nth % 26) as u8).collect();
    let last = Step::Segment { at: 0, bytes: all };
    for step in steps.iter().chain([&last]) {
        match step {
            Step::Segment { at, bytes } => {
                world.send(&Out {
                    seq: isn.wrapping_add(*at as u32),
                    ack: ack_of_server,
                    bytes,
                    ..Out::default()
                });
                slow.segment(*at, bytes);
            }
            Step::Acknowledge { to, window: size } if window.is_some() => {
                world.send(&Out {
                    to_server: false,
                    seq: ack_of_server,
                    ack: isn.wrapping_add(*to as u32),
                    window: *size,
                    ..Out::default()
                });
                slow.acknowledge(*to, u64::from(*size));
            }
            Step::Acknowledge { .. } => ack_of_server += 0,
        }
        assert_eq!(world.told(true), slow.told, "{policy:?} after {step:?}");
    }
    world.end(3);
    slow.end();
    assert_eq!(world.told(true), slow.told, "{policy:?} at the end");
    let differs = world.log.anomalies.contains(&Anomaly::OverlapDiffers);
    assert_eq!(differs, slow.differed, "{policy:?}");
    assert_eq!(world.reassembler.stats().memory_bytes, 0);
}

fn policies() -> impl Iterator<Item = SegmentOverlap> {
    SegmentOverlap::ALL.iter().map(|&(policy, ..)| policy)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Any cut, order, repetition and overlap, also where numbers wrap: the same bytes and gaps
    /// under every policy.
    #[test]
    fn random_segments_give_the_oracles_bytes(
        isn in prop_oneof![any::<u32>(), (u32::MAX - 70)..=u32::MAX, 0u32..9],
        window in prop_oneof![Just(None), Just(Some(65_535u16)), (0u16..90).prop_map(Some)],
        steps in prop::collection::vec(step(1), 1..40),
    ) {
        for policy in policies() {
            compare(policy, isn, window, &steps, 80);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Segments of several blocks are divided as one.
    #[test]
    fn large_segments_give_the_oracles_bytes(
        isn in prop_oneof![any::<u32>(), (u32::MAX - 30_000)..=u32::MAX],
        steps in prop::collection::vec(step(250), 1..14),
    ) {
        for policy in policies() {
            compare(policy, isn, Some(65_535), &steps, 0);
        }
    }
}

/// Found by fuzzing: windows that open and shrink while most held bytes lie outside.
#[test]
fn held_bytes_outside_the_window_end_as_the_oracles() {
    let segment = |at: i64, len: usize, fill: u8| Step::Segment {
        at,
        bytes: (0..len).map(|nth| fill ^ (nth as u8 & 1)).collect(),
    };
    let acknowledge = |to, window| Step::Acknowledge { to, window };
    let steps = [
        segment(1736, 3840, 40),
        segment(2968, 2816, 100),
        segment(236, 240, 8),
        segment(61, 64, 0),
        segment(133, 232, 64),
        segment(56, 48, 149),
        acknowledge(2, 182),
        segment(152, 3456, 2),
        segment(2616, 2176, 0),
        segment(664, 2560, 81),
        segment(102, 40, 238),
        acknowledge(2040, 24),
        segment(-7, 8, 8),
    ];
    compare(SegmentOverlap::Bsd, 9, Some(40), &steps, 0);
}
