//! Segments that claim an end which their receiver does not believe, and what follows them.
//!
//! The receivers' behaviour is that of RFC 9293 §3.10.7, RFC 5961 §3 and RFC 7323 §5. For Linux it
//! was also observed: an open connection of 6.18 received each of these, then data, over a tunnel
//! device:
//!
//! | segment | data after it is |
//! | --- | --- |
//! | RST at −1, +1, +300, beyond the window | acknowledged |
//! | RST at the exact number, of any acknowledgement or time stamp | answered by RST |
//! | RST at the end of what was acknowledged selectively, not at its start | answered by RST |
//! | RST one before the number that is expected after a FIN | answered by RST |
//! | FIN of old, beyond the window, without ACK, an old stamp, after a hole | acknowledged |
//! | FIN that acknowledges what was never sent, or something very old | acknowledged |
//! | SYN in the window; data without ACK | acknowledged |
//! | before the handshake is complete: RST at any number but the exact one, FIN | acknowledged |

mod support;

use flowpin_config::{Named, SegmentOverlap};
use flowpin_reassembly::{Anomaly, Closed};
use proptest::prelude::*;
use support::{ACK, FIN, Out, RST, SYN, SYN_ACK, World, client, options, server};

const LEAST: [SegmentOverlap; 4] = [
    SegmentOverlap::Bsd,
    SegmentOverlap::OldLinux,
    SegmentOverlap::Solaris,
    SegmentOverlap::Hpux,
];

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
    world.send(&server(500, 111, "200 OK"));
}

/// Segments that close nothing, whoever the receiver is, and the anomalies reported for them.
fn ignored_by_all() -> Vec<(&'static str, Out<'static>, Option<Anomaly>)> {
    let rst = |seq| Out {
        flags: RST,
        ..client(seq, "")
    };
    let fin = |seq, bytes| Out {
        flags: FIN,
        ..client(seq, bytes)
    };
    let bare_fin = Out {
        flags: flowpin_packet::TcpFlags::FIN,
        ..client(107, "")
    };
    let bad = |out| Out {
        bad_checksum: true,
        ..out
    };
    vec![
        (
            "RST before the window",
            rst(106),
            Some(Anomaly::InvalidReset),
        ),
        ("RST of old", rst(7), Some(Anomaly::InvalidReset)),
        ("RST with a bad checksum", bad(rst(107)), None),
        ("FIN with a bad checksum", bad(fin(107, "")), None),
        ("FIN without ACK", bare_fin, Some(Anomaly::MissingAck)),
        ("FIN of old", fin(101, ""), Some(Anomaly::InvalidFin)),
        (
            "FIN behind the window",
            fin(5000, ""),
            Some(Anomaly::InvalidFin),
        ),
        (
            "SYN inside",
            Out {
                flags: SYN,
                ..client(90_000, "")
            },
            Some(Anomaly::SynInConnection),
        ),
        (
            "SYN-ACK from the client",
            Out {
                flags: SYN_ACK,
                ..client(107, "")
            },
            Some(Anomaly::SynInConnection),
        ),
    ]
}

/// RFC 9293 §3.10.7.4, RFC 5961: segments that the receiver drops do not change the stream.
#[test]
fn what_no_receiver_believes_changes_nothing() {
    for &(policy, ..) in SegmentOverlap::ALL {
        for (name, out, told) in ignored_by_all() {
            let mut world = begun(policy);
            world.send(&out);
            assert_eq!(world.log.anomalies, Vec::from_iter(told), "{name}");
            go_on(&mut world);
            assert_eq!(world.text(true), "GET /evil\r\n", "{policy:?} {name}");
            assert_eq!(world.text(false), "200 OK");
            assert_eq!((&world.log.went_on, &world.log.closed), (&vec![], &vec![]));
            assert_eq!(world.log.anomalies, Vec::from_iter(told), "{name}");
        }
    }
}

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

/// RFC 9293 §3.10.7.3 and §3.10.4: before the handshake is complete neither counts, unless the RST
/// acknowledges the SYN; nor does a RST that no host received.
#[test]
fn nothing_ends_before_the_handshake() {
    let syn = Out {
        flags: SYN,
        begins: true,
        ..client(99, "")
    };
    let early = [
        Out {
            flags: flowpin_packet::TcpFlags::FIN,
            ..client(100, "")
        },
        Out {
            flags: FIN,
            ack: 7,
            ..client(100, "")
        },
        Out {
            flags: RST.with(ACK),
            ..server(0, 99, "")
        },
        Out {
            flags: RST.with(ACK),
            ..server(0, 5000, "")
        },
        Out {
            flags: RST,
            ..server(500, 0, "")
        },
        Out {
            flags: RST.with(ACK),
            ..server(0, 100, "")
        },
        Out {
            flags: RST,
            ..client(100, "")
        },
    ];
    for &(policy, ..) in SegmentOverlap::ALL {
        for (nth, out) in early.iter().enumerate() {
            let mut world = World::new(&options(policy));
            world.send(&syn);
            world.send(out);
            world.send(&Out {
                flags: SYN_ACK,
                ..server(499, 100, "")
            });
            world.send(&client(100, ""));
            world.send(&client(100, "GET /evil"));
            world.send(&server(500, 109, "200 OK"));
            let read = (world.text(true), world.text(false));
            assert_eq!(
                read,
                ("GET /evil".into(), "200 OK".into()),
                "{policy:?} {nth}"
            );
        }
    }
}

/// RFC 9293 §3.5: the handshake's last segment shows which SYN and which SYN-ACK counted, in
/// whatever order forged ones came.
#[test]
fn the_last_segment_of_the_handshake_chooses_the_numbers() {
    let syn = |seq, begins| Out {
        flags: SYN,
        begins,
        ..client(seq, "")
    };
    let answer = |seq, ack| Out {
        flags: SYN_ACK,
        ..server(seq, ack, "")
    };
    let (mine, theirs) = (syn(99, true), answer(499, 100));
    let forged_syns = [7, 900_000, 0x8000_0000, 0xffff_0000];
    for (policy, ..) in SegmentOverlap::ALL {
        for forged in forged_syns {
            let other = answer(forged, 100);
            for (nth, opening) in [
                vec![syn(forged, true), theirs.clone()],
                vec![syn(forged, true), theirs.clone(), theirs.clone()],
                vec![syn(forged, true), theirs.clone(), answer(77, forged + 1)],
                vec![syn(forged, true), answer(77, forged + 1), theirs.clone()],
                vec![mine.clone(), theirs.clone(), other.clone()],
                vec![mine.clone(), other.clone(), theirs.clone()],
                vec![mine.clone(), other.clone(), theirs.clone(), other.clone()],
                vec![mine.clone(), answer(forged, 7000), theirs.clone()],
                vec![mine.clone(), theirs.clone(), answer(forged, 7000)],
            ]
            .into_iter()
            .enumerate()
            {
                let mut world = World::new(&options(*policy));
                for out in &opening {
                    world.send(out);
                }
                world.send(&client(100, ""));
                world.send(&client(100, "GET /evil"));
                world.send(&server(500, 109, "200 OK"));
                world.send(&client(109, ""));
                world.end(3);
                let read = (world.text(true), world.text(false));
                let whole = ("GET /evil".to_owned(), "200 OK".to_owned());
                assert_eq!(read, whole, "{policy:?} {forged} {nth}");
            }
        }
    }
}

/// RFC 5961 §5.2: data whose acknowledgement is more than a window old is not read.
#[test]
fn data_with_a_very_old_acknowledgement_is_not_read() {
    for (ack, read) in [(500u32.wrapping_sub(900_000), false), (499, true)] {
        let mut world = begun(SegmentOverlap::Linux);
        world.send(&Out {
            ack,
            ..client(107, "XX\r\n")
        });
        go_on(&mut world);
        let text = if read {
            "GET /evXX\r\n"
        } else {
            "GET /evil\r\n"
        };
        assert_eq!(world.text(true), text);
        assert_eq!(world.log.anomalies.contains(&Anomaly::InvalidAck), !read);
    }
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

/// RFC 7323 §5: a FIN with an old time stamp is dropped; for a RST it does not matter (§5.2).
#[test]
fn an_old_time_stamp_refuses_a_fin_and_no_reset() {
    let stamp = |value: u8| [1, 1, 8, 10, 0, 0, 0, value, 0, 0, 0, 0];
    for (flags, refused) in [(FIN, true), (RST, false)] {
        let mut world = World::new(&options(SegmentOverlap::Linux));
        let (now, old) = (stamp(9), stamp(3));
        for out in [
            Out {
                flags: SYN,
                begins: true,
                options: &now,
                ..client(99, "")
            },
            Out {
                flags: SYN_ACK,
                options: &now,
                ..server(499, 100, "")
            },
            Out {
                options: &now,
                ..client(100, "a")
            },
            Out {
                flags,
                options: &old,
                ..client(101, "")
            },
        ] {
            world.send(&out);
        }
        assert_eq!(
            world.log.anomalies.contains(&Anomaly::OldTimestamp),
            refused
        );
        world.end(3);
        let how = if refused {
            Closed::Ended
        } else {
            Closed::Reset
        };
        assert_eq!(world.log.closed.first(), Some(&(3, true, how)));
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// However many segments their receiver ignores, and wherever: the same bytes are read.
    #[test]
    fn ignored_segments_change_nothing(
        policy in prop::sample::select(SegmentOverlap::ALL),
        strays in prop::collection::vec((0usize..5, 0usize..9, any::<bool>(), 1u32..90), 0..12),
    ) {
        let script = [
            (true, "GET / HTTP/1.1\r\n"), (false, ""), (true, "\r\n"), (false, "200 OK"),
            (true, "GET /more"),
        ];
        let mut world = World::new(&options(policy.0));
        world.handshake(100, 500, 1000);
        world.send(&client(100, ""));
        let mut next = [100u32, 500];
        for (nth, (to_server, bytes)) in script.into_iter().enumerate() {
            for &(_, kind, up, by) in strays.iter().filter(|stray| stray.0 == nth) {
                let (mine, other) = if up { (next[0], next[1]) } else { (next[1], next[0]) };
                let out = |flags, seq: u32| Out {
                    to_server: up, flags, seq, ack: other, window: 1000, ..Out::default()
                };
                world.send(&match kind {
                    0 => out(RST, mine.wrapping_sub(by)),
                    1 => out(RST.with(ACK), mine.wrapping_sub(by)),
                    2 => Out { bad_checksum: true, ..out(RST, mine) },
                    3 => Out { bad_checksum: true, ..out(FIN, mine) },
                    4 => out(flowpin_packet::TcpFlags::FIN, mine),
                    5 => out(FIN, mine.wrapping_sub(by)),
                    // If both sides sent them, each would confirm the other.
                    6 if up => Out {
                        bytes: b"forged",
                        ack: other.wrapping_add(by),
                        ..out(ACK, mine)
                    },
                    7 if up => Out {
                        ack: other.wrapping_add(by),
                        ..out(ACK, mine)
                    },
                    _ => out(SYN, mine.wrapping_add(by)),
                });
            }
            let out = if to_server {
                Out { ack: next[1], window: 1000, ..client(next[0], bytes) }
            } else {
                server(next[1], next[0], bytes)
            };
            world.send(&out);
            next[usize::from(!to_server)] += u32::try_from(bytes.len()).unwrap();
        }
        prop_assert_eq!(world.text(true), "GET / HTTP/1.1\r\n\r\nGET /more");
        prop_assert_eq!(world.text(false), "200 OK");
        prop_assert_eq!(&world.log.closed, &vec![]);
        prop_assert_eq!(&world.log.went_on, &vec![]);
    }
}
