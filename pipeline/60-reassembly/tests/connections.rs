//! How connections open, run and end, segment by segment.

mod support;

use flowpin_config::SegmentOverlap;
use flowpin_reassembly::{Anomaly, Closed, Handshake, ReassemblyOptions, Urgent};
use support::{ACK, FIN, Out, RST, SYN, SYN_ACK, URG, World, options};

fn usual() -> World {
    World::new(&options(SegmentOverlap::First))
}

/// With a handshake done: the client's first byte is 100, the server's 500.
fn open() -> World {
    let mut world = usual();
    world.handshake(100, 500, 1000);
    world
}

fn client(seq: u32, bytes: &str) -> Out<'_> {
    Out {
        seq,
        ack: 500,
        bytes: bytes.as_bytes(),
        ..Out::default()
    }
}

fn server(seq: u32, ack: u32, bytes: &str) -> Out<'_> {
    Out {
        to_server: false,
        seq,
        ack,
        window: 1000,
        bytes: bytes.as_bytes(),
        ..Out::default()
    }
}

/// RFC 9293 §3.5, §3.6: handshake, data both ways, one side closed, then the other.
#[test]
fn a_whole_connection_is_read_to_its_end() {
    let mut world = open();
    world.send(&client(100, "GET "));
    world.send(&client(104, "/"));
    world.send(&server(500, 105, "ok"));
    world.send(&Out {
        flags: FIN,
        ..client(105, "!")
    });
    // Half closed: the server still talks.
    world.send(&server(502, 107, " and more"));
    world.send(&Out {
        flags: FIN,
        ..server(511, 107, "")
    });
    world.send(&Out {
        ack: 512,
        ..client(107, "")
    });
    assert_eq!(
        (world.text(true), world.text(false)),
        ("GET /!".into(), "ok and more".into())
    );
    let closed = [(3, true, Closed::Fin), (3, false, Closed::Fin)];
    assert_eq!(world.log.closed, closed);
    assert_eq!(world.log.anomalies, []);
    world.end(3);
    assert_eq!(world.log.closed, closed, "each stream ends once");
}

/// The options of both SYNs are told, whatever stands between them.
#[test]
fn options_of_a_handshake_are_told() {
    let mut world = usual();
    let options = [
        2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0, 1, 3, 3, 7, 34, 2,
    ];
    world.send(&Out {
        flags: SYN,
        seq: 99,
        options: &options,
        begins: true,
        ..Out::default()
    });
    let want = Handshake {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: true,
        fast_open: Some(0),
    };
    assert_eq!(world.log.handshakes, [(true, want)]);
}

/// RFC 9293 §3.5: both may open at once.
#[test]
fn both_sides_may_open_at_once() {
    let mut world = usual();
    world.send(&Out {
        flags: SYN,
        seq: 99,
        begins: true,
        ..Out::default()
    });
    world.send(&Out {
        flags: SYN,
        ..server(499, 0, "")
    });
    world.send(&Out {
        flags: SYN_ACK,
        ..client(99, "")
    });
    world.send(&Out {
        flags: SYN_ACK,
        ..server(499, 100, "")
    });
    world.send(&client(100, "hello"));
    world.send(&server(500, 105, "you"));
    assert_eq!(
        (world.text(true), world.text(false)),
        ("hello".into(), "you".into())
    );
    assert_eq!(world.log.anomalies, []);
}

/// RFC 7413: data on a SYN counts if it is acknowledged, and only then.
#[test]
fn data_on_a_syn_counts_if_it_is_acknowledged() {
    for (acknowledged, want) in [(105, "early late"), (100, "again late")] {
        let mut world = usual();
        world.send(&Out {
            flags: SYN,
            begins: true,
            ..client(99, "early")
        });
        assert_eq!(world.text(true), "");
        world.send(&Out {
            flags: SYN_ACK,
            ..server(499, acknowledged, "")
        });
        if acknowledged == 100 {
            assert_eq!(world.reassembler.stats().syn_refused, 5);
            world.send(&client(100, "again"));
        }
        world.send(&client(105, " late"));
        assert_eq!(world.text(true), want);
        assert_eq!(world.log.anomalies, [Anomaly::DataOnSyn]);
    }
}

/// RFC 9293 §3.10.7.3: a SYN-ACK of something else is not believed.
#[test]
fn a_forged_syn_ack_does_not_number_the_stream() {
    let mut world = usual();
    world.send(&Out {
        flags: SYN,
        begins: true,
        ..client(99, "")
    });
    world.send(&Out {
        flags: SYN_ACK,
        ..server(70_000, 4711, "")
    });
    world.send(&Out {
        flags: SYN_ACK,
        ..server(499, 100, "")
    });
    world.send(&server(500, 100, "right"));
    assert_eq!(world.text(false), "right");
    assert_eq!(world.log.anomalies, [Anomaly::SynAckMismatch]);
}

/// RFC 5961 §4: a SYN inside a connection is answered, not believed.
#[test]
fn a_syn_inside_a_connection_changes_nothing() {
    let mut world = open();
    world.send(&client(100, "ab"));
    world.send(&server(500, 102, ""));
    world.send(&Out {
        flags: SYN,
        ..client(9_000, "evil")
    });
    world.send(&client(102, "cd"));
    assert_eq!(world.text(true), "abcd");
    assert_eq!(world.log.anomalies, [Anomaly::SynInConnection]);
}

/// RFC 9293 §3.8.4: a keep-alive repeats a byte, or carries none; it is no data.
#[test]
fn keep_alives_are_no_data() {
    let mut world = open();
    world.send(&client(100, "ab"));
    world.send(&client(101, "x"));
    world.send(&client(101, ""));
    world.send(&client(102, "cd"));
    assert_eq!(world.text(true), "abcd");
    let stats = world.reassembler.stats();
    assert_eq!((stats.keep_alives, stats.duplicate), (2, 1));
    assert_eq!(world.log.anomalies, []);
}

/// RFC 9293 §3.8.6.1: the byte that probes a closed window counts when it is acknowledged; until
/// then the receiver may drop it.
#[test]
fn a_window_probe_waits_for_its_acknowledgement() {
    for accepted in [true, false] {
        let mut world = open();
        world.send(&client(100, "ab"));
        world.send(&Out {
            window: 0,
            ..server(500, 102, "")
        });
        world.send(&client(102, if accepted { "c" } else { "X" }));
        assert_eq!(world.text(true), "ab");
        if accepted {
            world.send(&server(500, 103, ""));
        } else {
            world.send(&server(500, 102, ""));
            // Not taken after all; what comes now is, whatever the policy says.
            world.send(&client(102, "c"));
        }
        world.send(&client(103, "d"));
        if accepted {
            assert_eq!(world.text(true), "abcd");
        }
        assert_eq!(world.reassembler.stats().window_probes, 1);
    }
}

/// RFC 7323 §5: an old time stamp makes a segment unacceptable, however well its number fits.
#[test]
fn a_segment_with_an_old_time_stamp_is_dropped() {
    let stamp = |value: u8| [1, 1, 8, 10, 0, 0, 0, value, 0, 0, 0, 0];
    for both in [true, false] {
        let mut world = usual();
        let (early, late, old) = (stamp(100), stamp(101), stamp(50));
        world.send(&Out {
            flags: SYN,
            begins: true,
            options: &early,
            ..client(99, "")
        });
        let options: &[u8] = if both { &early } else { &[] };
        world.send(&Out {
            flags: SYN_ACK,
            options,
            ..server(499, 100, "")
        });
        world.send(&Out {
            options: &late,
            ..client(100, "one")
        });
        world.send(&Out {
            options: &old,
            ..client(103, "BAD")
        });
        world.send(&Out {
            options: &late,
            ..client(103, "two")
        });
        assert_eq!(world.text(true), if both { "onetwo" } else { "oneBAD" });
        assert_eq!(
            world.reassembler.stats().old_timestamp,
            if both { 3 } else { 0 }
        );
    }
}

/// Numbers go round: a stream does not end at 2³².
#[test]
fn a_stream_goes_on_where_numbers_wrap() {
    let mut world = usual();
    let first = u32::MAX - 2;
    world.handshake(first, 500, 1000);
    world.send(&client(first.wrapping_add(4), "ef"));
    world.send(&client(first, "abcd"));
    assert_eq!(world.text(true), "abcdef");
    assert_eq!(world.reassembler.stats().held, 0);
}

/// What nobody captured is a gap once the receiver has it and the sender has gone on; an
/// acknowledgement alone, which anybody can forge, is not enough.
#[test]
fn a_hole_is_a_gap_once_both_sides_went_past_it() {
    let mut world = open();
    world.send(&server(500, 150, ""));
    world.send(&client(100, "ab"));
    assert_eq!(world.text(true), "ab");
    world.send(&client(110, "cd"));
    assert_eq!(world.text(true), "ab........cd");
    // Also where only a number without data shows it.
    world.send(&server(500, 120, ""));
    world.send(&client(120, ""));
    assert_eq!(world.text(true), "ab........cd........");
    world.end(3);
    assert_eq!(world.reassembler.stats().gap_bytes, 46);
}

/// A snapped capture has the lengths: what it cut off is a gap like any other.
#[test]
fn what_the_capture_cut_off_is_a_gap() {
    let mut world = open();
    world.send(&Out {
        snapped: 6,
        ..client(100, "head")
    });
    world.send(&client(110, "next"));
    assert_eq!(world.text(true), "head");
    world.send(&server(500, 114, ""));
    assert_eq!(world.text(true), "head......next");
    assert_eq!(world.reassembler.stats().not_captured, 6);
}

/// A receiver drops what has a bad checksum; so do we.
#[test]
fn a_bad_checksum_feeds_no_stream() {
    let mut world = open();
    world.send(&Out {
        bad_checksum: true,
        ..client(100, "evil")
    });
    world.send(&client(100, "good"));
    assert_eq!(world.text(true), "good");
    assert_eq!(world.reassembler.stats().bad_checksum, 4);
}

/// The end may come before what precedes it; bytes behind it are not of the stream.
#[test]
fn a_fin_out_of_order_waits_for_what_is_before_it() {
    let mut world = open();
    world.send(&Out {
        flags: FIN,
        ..client(103, "d")
    });
    world.send(&client(104, "behind"));
    assert_eq!(world.log.closed, []);
    world.send(&client(100, "abc"));
    assert_eq!(world.text(true), "abcd");
    assert_eq!(world.log.closed, [(3, true, Closed::Fin)]);
    world.send(&client(105, "more"));
    let stats = world.reassembler.stats();
    assert_eq!((stats.after_close, stats.held), (10, 0));
    assert_eq!(world.log.anomalies, [Anomaly::DataAfterClose]);
}

/// RFC 9293 §3.10.7.3: a refused SYN.
#[test]
fn a_reset_answers_a_syn_only_if_it_acknowledges_it() {
    let mut world = usual();
    world.send(&Out {
        flags: SYN,
        begins: true,
        ..client(99, "")
    });
    world.send(&Out {
        flags: RST.with(ACK),
        ..server(0, 9_999_999, "")
    });
    assert_eq!(world.log.closed, []);
    world.send(&Out {
        flags: RST.with(ACK),
        ..server(0, 100, "")
    });
    assert_eq!(world.log.closed, [(3, true, Closed::Reset)]);
}

/// Without a SYN the stream begins where the capture does, and this is counted; or not at all.
#[test]
fn a_connection_in_the_middle_is_picked_up_if_wanted() {
    for midstream in [true, false] {
        let mut world = World::new(&ReassemblyOptions {
            midstream,
            ..options(SegmentOverlap::First)
        });
        world.send(&Out {
            begins: true,
            ..server(9_000, 77, "middle")
        });
        world.send(&Out {
            ack: 9_006,
            ..client(77, "there")
        });
        world.send(&server(9_006, 82, " on"));
        let stats = world.reassembler.stats();
        assert_eq!(stats.midstream, 1);
        if midstream {
            assert_eq!(
                (world.text(true), world.text(false)),
                ("there".into(), "middle on".into())
            );
        } else {
            assert_eq!((world.text(true), stats.ignored), (String::new(), 14));
        }
    }
}

/// Two taps, or two queues of a card: what an answer acknowledges may come behind it, and is data
/// that the capture has. A keep-alive's byte is none.
#[test]
fn an_answer_before_what_it_answers_loses_nothing() {
    let mut world = World::new(&options(SegmentOverlap::First));
    world.send(&Out {
        begins: true,
        ..server(9_000, 82, "answer")
    });
    world.send(&Out {
        ack: 9_000,
        ..client(77, "asked")
    });
    world.send(&Out {
        ack: 9_006,
        ..client(82, " more")
    });
    assert_eq!(world.text(true), "asked more");
    let mut world = World::new(&options(SegmentOverlap::First));
    world.send(&Out {
        begins: true,
        ..server(9_000, 82, "answer")
    });
    world.send(&Out {
        ack: 9_006,
        ..client(81, "k")
    });
    assert_eq!(world.text(true), "");
}

/// One direction only: in order it is read, holes are gaps at the end; or not at all.
#[test]
fn one_direction_alone_is_read_if_wanted() {
    for one_sided in [true, false] {
        let mut world = World::new(&ReassemblyOptions {
            one_sided,
            ..options(SegmentOverlap::First)
        });
        world.send(&Out {
            flags: SYN,
            begins: true,
            ..client(99, "")
        });
        world.send(&client(100, "a"));
        world.send(&client(103, "d"));
        world.send(&client(101, "b"));
        world.end(3);
        let stats = world.reassembler.stats();
        if one_sided {
            assert_eq!((world.text(true), stats.one_sided), ("ab.d".into(), 1));
            assert_eq!(world.log.closed, [(3, true, Closed::Ended)]);
        } else {
            assert_eq!((world.text(true), stats.ignored), (String::new(), 3));
        }
    }
}

/// Ports are used again: the handle's next connection starts from nothing.
#[test]
fn a_connection_that_begins_again_starts_from_nothing() {
    let mut world = open();
    world.send(&client(105, "held"));
    world.send(&Out {
        flags: SYN,
        begins: true,
        ..client(7_999, "")
    });
    assert_eq!(world.log.closed.len(), 2);
    assert_eq!(world.text(true), ".....held");
    world.log.streams.clear();
    world.send(&Out {
        flags: SYN_ACK,
        ..server(1_999, 8_000, "")
    });
    world.send(&Out {
        ack: 2_000,
        ..client(8_000, "new")
    });
    assert_eq!(world.text(true), "new");
}

/// RFC 6093: in line, unless the receiver reads it out of band.
#[test]
fn an_urgent_byte_is_in_line_or_out_of_band() {
    for (urgent, order, want) in [
        (Urgent::InLine, false, "abXcd"),
        (Urgent::OutOfBand, false, "abcd"),
        (Urgent::OutOfBand, true, "abcd"),
    ] {
        let mut world = World::new(&ReassemblyOptions {
            urgent,
            ..options(SegmentOverlap::First)
        });
        world.handshake(100, 500, 1000);
        let parts = [
            client(100, "a"),
            Out {
                flags: URG,
                urgent: 2,
                ..client(101, "bXc")
            },
            client(104, "d"),
        ];
        if order {
            for part in parts.iter().rev() {
                world.send(part);
            }
        } else {
            parts.iter().for_each(|part| world.send(part));
        }
        assert_eq!(world.text(true), want);
        let pulled: &[(u64, u8)] = if urgent == Urgent::InLine {
            &[]
        } else {
            &[(2, b'X')]
        };
        assert_eq!(world.log.urgent, pulled);
        assert_eq!(world.log.anomalies, [Anomaly::UrgentData]);
    }
}

/// Behind the depth nothing is delivered or held, but the end is still told.
#[test]
fn nothing_is_delivered_behind_the_depth() {
    let depth = ReassemblyOptions {
        depth_bytes: 5,
        ..options(SegmentOverlap::First)
    };
    let mut world = World::new(&depth);
    world.handshake(100, 500, 1000);
    world.send(&client(100, "abc"));
    world.send(&client(103, "def"));
    world.send(&client(112, "jkl"));
    world.send(&client(106, "ghi"));
    world.send(&Out {
        flags: FIN,
        ..client(115, "")
    });
    assert_eq!(world.text(true), "abcde");
    let stats = world.reassembler.stats();
    assert_eq!((stats.beyond_depth, stats.duplicate, stats.held), (4, 3, 0));
    assert_eq!(world.log.closed, [(3, true, Closed::Fin)]);
}

/// A consumer that has enough of a stream gets no more of it, and of the other all.
#[test]
fn a_skipped_stream_is_only_followed() {
    let mut world = open();
    world.send(&client(100, "abc"));
    world.send(&client(104, "held"));
    world.reassembler.skip(3, true);
    world.check();
    world.send(&client(103, "d"));
    world.send(&server(500, 108, "answer"));
    world.send(&Out {
        flags: FIN,
        ..client(108, "")
    });
    assert_eq!(
        (world.text(true), world.text(false)),
        ("abc".into(), "answer".into())
    );
    assert_eq!(world.log.closed, [(3, true, Closed::Fin)]);
}

/// Numbers far away are nobody's.
#[test]
fn data_outside_any_window_is_dropped() {
    let mut world = open();
    world.send(&client(100 + (1 << 30) + 1, "far"));
    world.send(&client(100, "near"));
    assert_eq!(world.text(true), "near");
    assert_eq!(world.log.anomalies, [Anomaly::OutOfWindow]);
}

/// No consumer: the same counts, and no calls.
#[test]
fn a_consumer_that_wants_nothing_changes_no_count() {
    use flowpin_reassembly::{Reassembler, StreamConsumer};
    const { assert!(!<() as StreamConsumer>::WANTS) };
    let mut world = open();
    let settings = options(SegmentOverlap::First);
    let mut reassembler = Reassembler::new(&settings, 256, 4).unwrap();
    let mut send = |out: &Out<'_>| {
        world.send(out);
        let (frame, meta) = support::frame(out, 1);
        let frames = flowpin_packet::FrameBytes {
            piece: &frame,
            extra: &[],
        };
        reassembler.segment(&frames, &meta, 3, out.to_server, out.begins, &mut ());
    };
    send(&Out {
        flags: SYN,
        begins: true,
        ..client(99, "")
    });
    send(&Out {
        flags: SYN_ACK,
        ..server(499, 100, "")
    });
    for (seq, bytes) in [
        (100, "ab"),
        (104, "ef"),
        (102, "cd"),
        (103, "XXX"),
        (120, "late"),
    ] {
        send(&client(seq, bytes));
        send(&server(500, seq + 2, ""));
    }
    reassembler.end(3, &mut ());
    world.end(3);
    let (mine, other) = (reassembler.stats(), world.reassembler.stats());
    assert_eq!(mine.received(), other.received());
    assert_eq!(
        (mine.in_order, mine.delivered),
        (other.in_order, other.delivered)
    );
    assert_eq!(
        (mine.duplicate, mine.gap_bytes),
        (other.duplicate, other.gap_bytes)
    );
    // Any handle is fine.
    reassembler.end(9, &mut ());
    reassembler.skip(9, false);
    reassembler.prefetch(u32::MAX);
}
