//! How connections run, segment by segment.

mod support;

use flowpin_config::SegmentOverlap;
use flowpin_reassembly::{Anomaly, ReassemblyOptions, Urgent};
use support::{Out, SYN, SYN_ACK, URG, World, client, open, options, server, usual};

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

/// Numbers far away are nobody's.
#[test]
fn data_outside_any_window_is_dropped() {
    let mut world = open();
    world.send(&client(100 + (1 << 30) + 1, "far"));
    world.send(&client(100, "near"));
    assert_eq!(world.text(true), "near");
    assert_eq!(world.log.anomalies, [Anomaly::OutOfWindow]);
}
