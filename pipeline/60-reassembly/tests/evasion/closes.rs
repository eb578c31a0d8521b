//! Segments that close the stream for some receiver: whether they did shows what follows.

use crate::support::{ACK, FIN, Out, RST, SYN, World, client, options, server};
use crate::{begun, go_on};
use flowpin_config::{Named, SegmentOverlap};
use flowpin_reassembly::{Anomaly, Closed};

/// A RST inside the window ends the stream for BSD and its like; elsewhere a challenge ACK answers
/// it (RFC 5961 §3.2). If the sender continues and is acknowledged, there was no reset: all is
/// read.
#[test]
fn whatever_closed_it_a_stream_that_is_acknowledged_goes_on() {
    let closes = [
        (
            "RST inside",
            Out {
                flags: RST,
                ..client(300, "")
            },
        ),
        (
            "RST",
            Out {
                flags: RST,
                ..client(107, "")
            },
        ),
        (
            "RST-ACK of nothing",
            Out {
                flags: RST.with(ACK),
                ack: 77,
                ..client(107, "")
            },
        ),
        (
            "RST of the server",
            Out {
                flags: RST,
                ..server(500, 0, "")
            },
        ),
        (
            "FIN",
            Out {
                flags: FIN,
                ..client(107, "")
            },
        ),
        (
            "FIN of nothing",
            Out {
                flags: FIN,
                ack: 4000,
                ..client(107, "")
            },
        ),
        (
            "FIN inside",
            Out {
                flags: FIN,
                ..client(108, "")
            },
        ),
        (
            "FIN with data behind a hole",
            Out {
                flags: FIN,
                ..client(300, "X")
            },
        ),
    ];
    for &(policy, ..) in SegmentOverlap::ALL {
        for (name, out) in &closes {
            let mut world = begun(policy);
            world.send(out);
            go_on(&mut world);
            let read = (world.text(true), world.text(false));
            assert_eq!(read.0, "GET /evil\r\n", "{policy:?} {name}");
            assert_eq!(read.1, "200 OK", "{policy:?} {name}");
            assert_eq!(world.log.closed, [], "{policy:?} {name}");
            let believed = match *name {
                "RST inside" => LEAST.contains(&policy),
                "FIN with data behind a hole" => false,
                _ => true,
            };
            let said = world.log.anomalies.contains(&Anomaly::CloseIgnored);
            assert_eq!(said, believed, "{policy:?} {name}");
            assert_eq!(!world.log.went_on.is_empty(), believed);
        }
    }
}

/// No acknowledgement follows: the stream was closed, and nothing after it was read.
#[test]
fn data_behind_a_close_that_nobody_acknowledges_is_not_read() {
    for flags in [RST, FIN] {
        let mut world = begun(SegmentOverlap::Linux);
        world.send(&Out {
            flags,
            ..client(107, "")
        });
        world.send(&client(107, "il\r\n"));
        let acked = if flags == FIN { 108 } else { 107 };
        world.send(&server(500, acked, ""));
        world.end(3);
        assert_eq!(world.text(true), "GET /ev");
        let stats = world.reassembler.stats();
        assert_eq!(stats.after_close + stats.discarded, 4);
        assert!(!world.log.anomalies.contains(&Anomaly::CloseIgnored));
        let how = if flags == FIN {
            Closed::Fin
        } else {
            Closed::Reset
        };
        assert_eq!(world.log.closed.first(), Some(&(3, true, how)));
    }
}

/// A byte in the place of the FIN has the FIN's number: its acknowledgement says nothing yet.
#[test]
fn a_byte_in_the_place_of_a_fin_is_not_taken_for_it() {
    let mut world = begun(SegmentOverlap::First);
    world.send(&Out {
        flags: FIN,
        ..client(107, "")
    });
    world.send(&client(107, "i"));
    world.send(&server(500, 108, ""));
    assert_eq!(world.log.closed, []);
    world.send(&client(108, "l"));
    world.send(&server(500, 109, ""));
    assert_eq!(world.text(true), "GET /evil");
    // Also if the capture has it too late: then the end was reported, and the stream goes on.
    let mut world = begun(SegmentOverlap::First);
    world.send(&Out {
        flags: FIN,
        ..client(107, "")
    });
    world.send(&server(500, 108, ""));
    assert_eq!(world.log.closed, [(3, true, Closed::Fin)]);
    world.send(&client(107, "il"));
    world.send(&server(500, 109, ""));
    assert_eq!(world.text(true), "GET /evil");
    assert_eq!(world.log.went_on, [(true, true)]);
}

/// A SYN after a RST closes nothing more: the stream goes on once it is acknowledged.
#[test]
fn a_syn_behind_a_reset_does_not_hide_what_follows() {
    for seq in [107, 7, 900_000] {
        for to_server in [true, false] {
            let mut world = begun(SegmentOverlap::Linux);
            world.send(&Out {
                flags: RST,
                ..client(107, "")
            });
            world.send(&Out {
                flags: SYN,
                to_server,
                ..client(seq, "")
            });
            go_on(&mut world);
            assert_eq!(world.text(true), "GET /evil\r\n");
            assert_eq!(world.text(false), "200 OK");
            assert!(world.log.anomalies.contains(&Anomaly::CloseIgnored));
            assert!(!world.log.anomalies.contains(&Anomaly::SynInConnection));
        }
    }
}

/// Linux compensates for loss: after a hole the number after selectively acknowledged bytes resets
/// it, after a FIN that of the FIN. Before the handshake is complete it requires the exact one.
#[test]
fn linux_takes_some_more_resets() {
    let rst = |seq| Out {
        flags: RST,
        ..client(seq, "")
    };
    for policy in [SegmentOverlap::Linux, SegmentOverlap::Windows] {
        let mut hole = begun(policy);
        hole.send(&client(120, "behind"));
        hole.send(&rst(126));
        let mut closing = begun(policy);
        closing.send(&Out {
            flags: FIN,
            ..client(107, "")
        });
        closing.send(&rst(107));
        let mut opening = World::new(&options(policy));
        opening.handshake(100, 500, 1000);
        opening.send(&rst(300));
        assert_eq!(opening.log.anomalies, [Anomaly::InvalidReset]);
        for world in [hole, closing] {
            let refused = world.log.anomalies == [Anomaly::InvalidReset];
            assert_eq!(refused, policy != SegmentOverlap::Linux);
        }
    }
}

/// Bytes that wait after a close are bounded like all held bytes.
#[test]
fn what_waits_behind_a_close_is_bounded() {
    let mut settings = options(SegmentOverlap::Linux);
    (settings.memory_bytes, settings.stream_bytes_max) = (256 * 65_536, 16_384);
    let mut world = World::new(&settings);
    world.handshake(100, 500, 1000);
    world.send(&Out {
        flags: RST,
        ..client(100, "")
    });
    let block = "x".repeat(1000);
    for nth in 0..1000 {
        world.send(&client(100 + nth * 1000, &block));
        assert!(world.reassembler.stats().memory_bytes <= 20_000);
    }
    world.end(3);
    assert_eq!(world.reassembler.stats().memory_bytes, 0);
    assert_eq!(world.text(true), "");
}

const LEAST: [SegmentOverlap; 4] = [
    SegmentOverlap::Bsd,
    SegmentOverlap::OldLinux,
    SegmentOverlap::Solaris,
    SegmentOverlap::Hpux,
];

/// RFC 9293 §3.4: a FIN is one more byte of its segment. Data that comes later and is the next to
/// be read replaces it; of several FINs the first one that is left ends the stream (observed with
/// Linux 6.18).
#[test]
fn next_data_replaces_the_fins_among_it() {
    let fin = |seq, bytes| Out {
        flags: FIN,
        ..client(seq, bytes)
    };
    for &(policy, ..) in SegmentOverlap::ALL {
        for (name, fins, end) in [
            ("its last byte", vec![fin(110, "")], None),
            ("one among it", vec![fin(108, "")], None),
            (
                "one among it, one at its end",
                vec![fin(108, ""), fin(111, "")],
                Some(111),
            ),
            (
                "in the other order",
                vec![fin(111, ""), fin(108, "")],
                Some(111),
            ),
            (
                "one after it",
                vec![fin(108, ""), fin(109, ""), fin(111, "")],
                Some(111),
            ),
        ] {
            let mut world = begun(policy);
            for out in &fins {
                world.send(out);
            }
            world.send(&client(107, "il\r\n"));
            let acked = end.map_or(111, |end| end + 1);
            world.send(&server(500, acked, ""));
            assert_eq!(world.text(true), "GET /evil\r\n", "{policy:?} {name}");
            let closed = world.log.closed.contains(&(3, true, Closed::Fin));
            assert_eq!(closed, end.is_some(), "{policy:?} {name}");
            if end.is_none() {
                world.send(&client(111, "Host"));
                assert_eq!(world.text(true), "GET /evil\r\nHost", "{policy:?} {name}");
            } else {
                world.send(&client(112, "phantom"));
                world.end(3);
                assert_eq!(world.text(true), "GET /evil\r\n", "{policy:?} {name}");
            }
        }
    }
}

/// A FIN among bytes that wait already: to Linux they are what came first.
#[test]
fn bytes_that_wait_replace_a_fin_among_them() {
    let mut world = begun(SegmentOverlap::Linux);
    world.send(&client(109, "\r\nHost"));
    world.send(&Out {
        flags: FIN,
        ..client(111, "")
    });
    world.send(&client(107, "il"));
    assert_eq!(world.text(true), "GET /evil\r\nHost");
    assert_eq!(world.log.closed, []);
}
