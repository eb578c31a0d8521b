//! How connections open, segment by segment: handshakes, forged and real, and none at all.

mod support;

use flowpin_config::SegmentOverlap;
use flowpin_reassembly::{Anomaly, Closed, Handshake, ReassemblyOptions};
use support::{ACK, Out, RST, SYN, SYN_ACK, World, client, first_wins, open, options, server};

/// The options of both SYNs are reported, whatever comes between them.
#[test]
fn options_of_a_handshake_are_told() {
    let mut world = first_wins();
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

/// RFC 9293 §3.5: both sides may open at once.
#[test]
fn both_sides_may_open_at_once() {
    let mut world = first_wins();
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
        let mut world = first_wins();
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

/// RFC 9293 §3.10.7.3: a SYN-ACK of another SYN is not believed.
#[test]
fn a_forged_syn_ack_does_not_number_the_stream() {
    let mut world = first_wins();
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

/// RFC 9293 §3.10.7.3: a refused SYN.
#[test]
fn a_reset_answers_a_syn_only_if_it_acknowledges_it() {
    let mut world = first_wins();
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
    world.end(3);
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

/// Two taps, or two queues of a card: bytes may appear after their acknowledgement, and the capture
/// does have them. A keep-alive's byte does not count.
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

/// One direction only: read in order, holes are gaps at the end; or not read at all.
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

/// Ports are reused: the handle's next connection starts from nothing.
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
