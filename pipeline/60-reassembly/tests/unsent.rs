//! Segments that acknowledge bytes that were never sent, or were sent and not captured.
//!
//! RFC 9293 §3.10.7.4: a receiver that has not sent them answers, and drops the segment with its
//! data. A capture that lacks the bytes shows the same segment, and there it counts. The receiver's
//! own acknowledgements tell the two apart.

mod support;

use flowpin_config::{Named, SegmentOverlap};
use flowpin_reassembly::{Anomaly, Closed};
use support::{ACK, FIN, Out, RST, SYN, SYN_ACK, World, client, options, server};

/// An open connection: the client has sent "GET /ev" and continues at 107.
fn begun(policy: SegmentOverlap) -> World {
    let mut world = World::new(&options(policy));
    world.handshake(100, 500, 1000);
    world.send(&client(100, "GET /ev"));
    world.send(&server(500, 107, ""));
    world
}

/// The rest of the request, and the answer, which acknowledges it.
fn go_on(world: &mut World) {
    world.send(&client(107, "il\r\n"));
    world.send(&server(500, 111, ""));
    world.send(&server(500, 111, "200 OK"));
    world.send(&Out {
        ack: 506,
        ..client(111, "")
    });
}

/// By one, by less than the other side is about to send, by more, by more than any window.
const BEYOND: [u32; 4] = [1, 3, 4_000, 900_000];

/// However much it claims, and whether it is shorter or longer than the bytes that its receiver
/// reads.
#[test]
fn data_that_acknowledges_what_was_never_sent_is_not_read() {
    for &(policy, ..) in SegmentOverlap::ALL {
        for beyond in BEYOND {
            for forged in ["X", "il\n\n", "il HTTP/1.0\r\nHost: other"] {
                for flags in [ACK, FIN] {
                    let mut world = begun(policy);
                    world.send(&Out {
                        ack: 500 + beyond,
                        flags,
                        ..client(107, forged)
                    });
                    go_on(&mut world);
                    let name = format!("{policy:?} {beyond} {forged} {flags:?}");
                    assert_eq!(world.text(true), "GET /evil\r\n", "{name}");
                    assert_eq!(world.text(false), "200 OK", "{name}");
                    assert!(world.log.anomalies.contains(&Anomaly::InvalidAck), "{name}");
                    world.end(3);
                    assert_eq!(world.text(true), "GET /evil\r\n", "{name}");
                }
            }
        }
    }
}

/// As above, the server's.
#[test]
fn an_answer_that_acknowledges_what_was_never_sent_is_not_read() {
    for &(policy, ..) in SegmentOverlap::ALL {
        for beyond in BEYOND {
            let mut world = begun(policy);
            world.send(&server(500, 107 + beyond, "500 forged"));
            go_on(&mut world);
            assert_eq!(world.text(true), "GET /evil\r\n", "{policy:?} {beyond}");
            assert_eq!(world.text(false), "200 OK", "{policy:?} {beyond}");
        }
    }
}

/// Out of order, too, and before and after a close that the receiver ignored.
#[test]
fn what_lies_behind_a_hole_or_a_close_is_doubted_as_well() {
    for &(policy, ..) in SegmentOverlap::ALL {
        for closed in [false, true] {
            let mut world = begun(policy);
            let forged = |seq, bytes| Out {
                ack: 77_000,
                ..client(seq, bytes)
            };
            world.send(&forged(109, "XXXX"));
            if closed {
                world.send(&Out {
                    flags: RST,
                    ..client(107, "")
                });
            }
            world.send(&forged(107, "YY"));
            world.send(&client(109, "\r\n"));
            world.send(&client(107, "il"));
            world.send(&server(500, 111, "200 OK"));
            assert_eq!(world.text(true), "GET /evil\r\n", "{policy:?} {closed}");
            let went_on = world.log.anomalies.contains(&Anomaly::CloseIgnored);
            assert_eq!(went_on, closed);
        }
    }
}

/// The capture lacks what the server sent: the client's data counts as soon as the server has it
/// and, if the server is never seen again, at the end.
#[test]
fn data_that_acknowledges_what_was_not_captured_is_read() {
    let mut world = begun(SegmentOverlap::Linux);
    let late = Out {
        ack: 700,
        ..client(107, "il\r\n")
    };
    world.send(&late);
    assert_eq!(world.text(true), "GET /ev");
    world.send(&server(700, 111, "more"));
    assert_eq!(world.text(true), "GET /evil\r\n");
    assert_eq!(world.text(false), ".".repeat(200) + "more");
    assert_eq!(world.log.anomalies, []);

    let mut world = begun(SegmentOverlap::Linux);
    world.send(&late);
    world.send(&Out {
        ack: 800,
        ..client(111, "Host: h\r\n")
    });
    world.end(3);
    assert_eq!(world.text(true), "GET /evil\r\nHost: h\r\n");
    assert_eq!(world.log.anomalies, []);
}

/// Likewise the server's answer, to a client that is never seen again.
#[test]
fn an_answer_to_what_was_not_captured_is_read_at_the_end() {
    let mut world = begun(SegmentOverlap::Linux);
    world.send(&server(500, 140, "200 OK"));
    assert_eq!(world.text(false), "");
    world.end(3);
    assert_eq!(world.text(true), "GET /ev".to_owned() + &".".repeat(33));
    assert_eq!(world.text(false), "200 OK");
}

/// Bytes that wait for the server's acknowledgement are bounded like all held bytes; none is lost.
#[test]
fn where_the_server_is_never_seen_again_all_is_read() {
    let mut settings = options(SegmentOverlap::Linux);
    (settings.memory_bytes, settings.stream_bytes_max) = (256 * 65_536, 16_384);
    for memory_bytes in [256 * 65_536, 0] {
        settings.memory_bytes = memory_bytes;
        let mut world = World::new(&settings);
        world.handshake(100, 500, 65_535);
        let block = "x".repeat(1000);
        for nth in 0..60 {
            world.send(&Out {
                ack: 600 + nth,
                ..client(100 + nth * 1000, &block)
            });
            assert!(world.reassembler.stats().memory_bytes <= 20_000);
        }
        world.end(3);
        assert_eq!(world.text(true), block.repeat(60));
        assert_eq!(world.log.anomalies, []);
    }
}

/// An acknowledgement of unsent bytes ends no stream, makes no gap and refuses no close.
#[test]
fn such_an_acknowledgement_alone_changes_nothing() {
    for beyond in BEYOND {
        let mut world = begun(SegmentOverlap::Linux);
        let lie = Out {
            ack: 500 + beyond,
            ..client(107, "")
        };
        world.send(&lie);
        // In the wrong order: no gap if the server has not advanced as far, either.
        let mut halves = [server(500, 107, "200 "), server(504, 107, "OK")];
        if beyond > 6 {
            halves.reverse();
        }
        for half in &halves {
            world.send(half);
        }
        world.send(&Out {
            ack: 506 + beyond,
            ..lie.clone()
        });
        world.send(&Out {
            flags: FIN,
            ..server(506, 107, "")
        });
        world.send(&Out {
            ack: 507,
            ..client(107, "")
        });
        world.end(3);
        assert_eq!(world.text(false), "200 OK", "{beyond}");
        assert_eq!(world.reassembler.stats().gap_bytes, 0, "{beyond}");
        let closed = [(3, false, Closed::Fin), (3, true, Closed::Ended)];
        assert_eq!(world.log.closed, closed, "{beyond}");

        let mut world = begun(SegmentOverlap::Linux);
        world.send(&lie);
        world.send(&Out {
            flags: RST,
            ..server(500, 0, "")
        });
        world.end(3);
        let closed = [(3, true, Closed::Reset), (3, false, Closed::Reset)];
        assert_eq!(world.log.closed, closed, "{beyond}");
    }
}

/// RFC 9293 §3.10.7.4: a server that has received a SYN drops segments that do not acknowledge its
/// own.
#[test]
fn data_before_the_servers_answer_waits_for_it() {
    for &(policy, ..) in SegmentOverlap::ALL {
        for bare in [false, true] {
            let mut world = World::new(&options(policy));
            let syn = Out {
                flags: SYN,
                begins: true,
                ..client(99, "")
            };
            let answer = Out {
                flags: SYN_ACK,
                ..server(499, 100, "")
            };
            world.send(&syn);
            if bare {
                world.send(&Out {
                    ack: 77,
                    ..client(100, "")
                });
            }
            world.send(&Out {
                ack: 77,
                ..client(100, "GET /forged HTTP/1.1")
            });
            world.send(&answer);
            world.send(&client(100, ""));
            world.send(&client(100, "GET /evil"));
            world.send(&server(500, 109, "200 OK"));
            world.end(3);
            assert_eq!(world.text(true), "GET /evil", "{policy:?}");
            assert_eq!(world.text(false), "200 OK");

            // Two taps: the same packets, the server's answer a little later.
            let mut world = World::new(&options(policy));
            world.send(&syn);
            world.send(&client(100, "GET /good"));
            world.send(&answer);
            world.send(&server(500, 109, "200 OK"));
            assert_eq!(world.text(true), "GET /good", "{policy:?}");
        }
    }
}

/// If the capture has one direction only, its own numbers show what was answered, and what was not
/// waits for no longer than a first window.
#[test]
fn one_direction_alone_waits_for_no_answer() {
    let begin = |world: &mut World| {
        world.send(&Out {
            flags: SYN,
            begins: true,
            ..client(99, "")
        });
        world.send(&client(100, ""));
        world.send(&client(100, "GET /one"));
        assert_eq!(world.text(true), "");
    };
    let mut world = World::new(&options(SegmentOverlap::Linux));
    begin(&mut world);
    world.send(&Out {
        ack: 700,
        ..client(108, "GET /two")
    });
    assert_eq!(world.text(true), "GET /oneGET /two");
    let mut world = World::new(&options(SegmentOverlap::Linux));
    begin(&mut world);
    let block = "x".repeat(30_000);
    for nth in 0..3 {
        world.send(&client(108 + nth * 30_000, &block));
    }
    assert_eq!(world.text(true).len(), 90_008);
    for how in [RST, FIN] {
        let mut world = World::new(&options(SegmentOverlap::Linux));
        begin(&mut world);
        world.send(&Out {
            flags: how,
            ..client(108, "")
        });
        world.end(3);
        assert_eq!(world.text(true), "GET /one", "{how:?}");
        let how = if how == RST {
            Closed::Reset
        } else {
            Closed::Fin
        };
        assert_eq!(world.log.closed, [(3, true, how)]);
    }
}
