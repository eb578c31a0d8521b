//! Time stamps and old acknowledgements: what the receiver refuses, and what shows that it did not.

use crate::support::{FIN, Out, SYN, SYN_ACK, World, client, options, server};
use flowpin_config::{Named, SegmentOverlap};
use flowpin_reassembly::Anomaly;
use proptest::prelude::*;

/// RFC 7323 appendix A.
const fn stamp(value: u32) -> [u8; 12] {
    let [a, b, c, d] = value.to_be_bytes();
    [1, 1, 8, 10, a, b, c, d, 0, 0, 0, 0]
}

const NOW: [u8; 12] = stamp(1000);
const FUTURE: [u8; 12] = stamp(900_000);

/// A connection with time stamps, after the client's first bytes, which the server has.
fn stamped(policy: SegmentOverlap) -> World {
    let mut world = World::new(&options(policy));
    for out in [
        Out {
            flags: SYN,
            begins: true,
            ..client(99, "")
        },
        Out {
            flags: SYN_ACK,
            ..server(499, 100, "")
        },
        client(100, "GET /ev"),
        server(500, 107, ""),
    ] {
        world.send(&Out {
            options: &NOW,
            ..out
        });
    }
    world
}

/// RFC 7323 §5.3: R2 comes before R3. A segment that its receiver drops leaves its time stamp
/// nowhere, and what follows with the true one is read.
#[test]
fn a_dropped_segment_leaves_no_time_stamp() {
    let dropped = [
        ("keep-alive", client(106, "")),
        ("old", client(7, "")),
        ("old data", client(2, "x")),
        (
            "old FIN",
            Out {
                flags: FIN,
                ..client(50, "")
            },
        ),
        ("beyond the window", client(5000, "x")),
        (
            "acknowledges the unsent",
            Out {
                ack: 90_000,
                ..client(107, "")
            },
        ),
        (
            "the same with data",
            Out {
                ack: 90_000,
                ..client(107, "x")
            },
        ),
        (
            "acknowledges less",
            Out {
                ack: 499,
                ..client(107, "")
            },
        ),
    ];
    for &(policy, ..) in SegmentOverlap::ALL {
        for (name, out) in &dropped {
            let mut world = stamped(policy);
            world.send(&Out {
                options: &FUTURE,
                ..out.clone()
            });
            world.send(&Out {
                options: &NOW,
                ..client(107, "il\r\n")
            });
            assert_eq!(world.text(true), "GET /evil\r\n", "{policy:?} {name}");
            assert!(
                !world.log.anomalies.contains(&Anomaly::OldTimestamp),
                "{name}"
            );
        }
    }
}

/// Linux does not look at the acknowledgement of the data that it expects, but stores its time
/// stamp: what follows with an older one is not read.
#[test]
fn linux_stores_the_time_stamp_of_the_next_data_whatever_it_acknowledges() {
    let mut world = stamped(SegmentOverlap::Linux);
    let next = Out {
        window: 65_535,
        options: &FUTURE,
        ack: 300,
        ..client(107, "XX")
    };
    world.send(&next);
    for out in [
        server(500, 109, ""),
        client(109, "YY"),
        server(500, 109, ""),
    ] {
        world.send(&Out {
            options: &NOW,
            ..out
        });
    }
    world.end(3);
    assert_eq!(world.text(true), "GET /evXX");
}

/// Linux accepts a time stamp that is one tick too old; others do not, as RFC 7323 says.
#[test]
fn linux_accepts_a_time_stamp_one_tick_too_old() {
    for (policy, ticks, read) in [
        (SegmentOverlap::Linux, 1, true),
        (SegmentOverlap::Linux, 2, false),
        (SegmentOverlap::Bsd, 1, false),
    ] {
        let mut world = stamped(policy);
        world.send(&Out {
            options: &stamp(1000 - ticks),
            ..client(107, "il\r\n")
        });
        assert_eq!(world.text(true).len() == 11, read, "{policy:?} {ticks}");
        let told = world.log.anomalies.contains(&Anomaly::OldTimestamp);
        assert_eq!(told, !read);
    }
}

/// Data that acknowledges what was never sent, or something older than any window.
fn refused() -> [(&'static str, Out<'static>); 3] {
    [
        (
            "old stamp",
            Out {
                options: const { &stamp(9) },
                ..client(107, "XX\r\n")
            },
        ),
        (
            "before the SYN",
            Out {
                ack: 300,
                options: &NOW,
                ..client(107, "XX\r\n")
            },
        ),
        (
            "very old",
            Out {
                ack: 500u32.wrapping_sub(900_000),
                options: &NOW,
                ..client(107, "XX\r\n")
            },
        ),
    ]
}

/// Whether the receiver has refused a segment shows: it acknowledges its bytes, or others come.
#[test]
fn what_is_refused_is_read_if_its_receiver_acknowledges_it() {
    for &(policy, ..) in SegmentOverlap::ALL {
        for (name, out) in refused() {
            let mut world = stamped(policy);
            world.send(&out);
            assert_eq!(world.text(true), "GET /ev", "{policy:?} {name}");
            world.send(&Out {
                options: &NOW,
                ..server(500, 111, "")
            });
            assert_eq!(world.text(true), "GET /evXX\r\n", "{policy:?} {name}");

            let mut world = stamped(policy);
            world.send(&out);
            for out in [client(107, "il\r\n"), server(500, 111, "")] {
                world.send(&Out {
                    options: &NOW,
                    ..out
                });
            }
            assert_eq!(world.text(true), "GET /evil\r\n", "{policy:?} {name}");

            let mut world = stamped(policy);
            world.send(&out);
            world.end(3);
            assert_eq!(world.text(true), "GET /ev", "{policy:?} {name}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Segments with any time stamp that the receiver drops for their number or acknowledgement,
    /// anywhere: the same bytes are read.
    #[test]
    fn time_stamps_of_dropped_segments_change_nothing(
        policy in prop::sample::select(SegmentOverlap::ALL),
        strays in prop::collection::vec((0u32..8, 0u8..4, 1u32..60, any::<u32>()), 0..10),
    ) {
        let mut world = stamped(policy.0);
        for nth in 0..8 {
            let next = 107 + 2 * nth;
            for &(_, kind, by, value) in strays.iter().filter(|stray| stray.0 == nth) {
                let out = match kind {
                    0 => client(next - by, ""),
                    1 => client(next + 1000 + by, "forged"),
                    2 => Out { ack: 500 + by, ..client(next, "") },
                    _ => client(next.wrapping_sub(8 * by), "forged?"),
                };
                if kind != 3 || by > 1 {
                    world.send(&Out { options: &stamp(value), ..out });
                }
            }
            let options = &stamp(1001 + nth);
            world.send(&Out { options, ..client(next, "ab") });
            world.send(&Out { options, ..server(500, next + 2, "") });
        }
        prop_assert_eq!(world.text(true), "GET /ev".to_owned() + &"ab".repeat(8));
    }
}
