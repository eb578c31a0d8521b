//! How connections run, segment by segment.

mod support;

use flowpin_config::{Named, SegmentOverlap};
use flowpin_reassembly::{Anomaly, ReassemblyOptions, Urgent};
use support::{Out, SYN, SYN_ACK, URG, World, client, first_wins, open, options, server};

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

/// RFC 9293 §3.8.4: a keep-alive repeats a byte, or carries none; it is not data.
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
            // Not accepted after all; what comes now is, whatever the policy says.
            world.send(&client(102, "c"));
        }
        world.send(&client(103, "d"));
        if accepted {
            assert_eq!(world.text(true), "abcd");
        }
        assert_eq!(world.reassembler.stats().window_probes, 1);
    }
}

/// RFC 7323 §5: an old time stamp makes a segment unacceptable, even if its number fits.
#[test]
fn a_segment_with_an_old_time_stamp_is_dropped() {
    let stamp = |value: u8| [1, 1, 8, 10, 0, 0, 0, value, 0, 0, 0, 0];
    for both in [true, false] {
        let mut world = first_wins();
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
            world.reassembler.stats().overlapped,
            if both { 3 } else { 0 }
        );
    }
}

/// Sequence numbers wrap: a stream does not end at 2³².
#[test]
fn a_stream_goes_on_where_numbers_wrap() {
    let mut world = first_wins();
    let first = u32::MAX - 2;
    world.handshake(first, 500, 1000);
    world.send(&client(first.wrapping_add(4), "ef"));
    world.send(&client(first, "abcd"));
    assert_eq!(world.text(true), "abcdef");
    assert_eq!(world.reassembler.stats().held, 0);
}

/// A snapped capture has the lengths: the bytes cut off are a gap like any other.
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

/// A receiver drops segments with a bad checksum; so does the reassembler.
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

/// Numbers far away do not belong to the stream.
#[test]
fn data_outside_any_window_is_dropped() {
    let mut world = open();
    world.send(&client(100 + (1 << 30) + 1, "far"));
    world.send(&client(100, "near"));
    assert_eq!(world.text(true), "near");
    assert_eq!(world.log.anomalies, [Anomaly::OutOfWindow]);
}

/// Stores delivered bytes, as many as fit in each shard.
fn comparing(shard_bytes: u64) -> World {
    let mut world = World::new(&ReassemblyOptions {
        compared_bytes: shard_bytes * 256,
        ..options(SegmentOverlap::First)
    });
    world.handshake(100, 500, 60_000);
    world
}

/// A forged answer from an attacker on the path comes first and is read; the server's own, longer
/// and different, reveals it. The two are distinguished only by their bytes.
#[test]
fn the_true_answer_behind_a_forged_one_is_noticed() {
    for kept in [true, false] {
        let mut world = comparing(if kept { 64 << 10 } else { 0 });
        world.send(&client(100, "GET / HTTP/1.1\r\n\r\n"));
        world.send(&server(
            500,
            118,
            "HTTP/1.1 302 Found\r\nLocation: http://evil/",
        ));
        world.send(&server(
            500,
            118,
            "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n<html>",
        ));
        let differs = [Anomaly::OverlapDiffers];
        assert_eq!(world.log.anomalies, if kept { &differs[..] } else { &[] });
        assert!(world.text(false).starts_with("HTTP/1.1 302 Found"));
        let stats = world.reassembler.stats();
        assert_eq!(
            (stats.compared, stats.uncompared),
            (if kept { 42 } else { 0 }, 0)
        );
    }
}

/// Honest systems retransmit bytes, cut otherwise, also after a FIN; and a keep-alive's byte is
/// garbage (RFC 9293 §3.8.4).
#[test]
fn the_same_bytes_again_are_no_contradiction() {
    let mut world = comparing(64 << 10);
    world.send(&client(100, "abcdef"));
    world.send(&client(112, "mnop"));
    world.send(&client(103, "defghijklm"));
    world.send(&client(100, "abcdefghijklmnop"));
    world.send(&client(115, "?"));
    world.send(&Out {
        flags: support::FIN,
        ..client(114, "opqr")
    });
    world.send(&client(108, "ijklmnopqr"));
    assert_eq!(world.text(true), "abcdefghijklmnopqr");
    assert_eq!(world.log.anomalies, []);
    let stats = world.reassembler.stats();
    assert_eq!((stats.compared, stats.uncompared), (3 + 16 + 2 + 10, 0));
    world.send(&client(117, "Z"));
    assert_eq!(world.log.anomalies, [Anomaly::OverlapDiffers]);
}

/// Bytes that no longer fit are counted as not compared; the same place in a later connection with
/// the same handle is another stream.
#[test]
fn what_is_no_longer_kept_is_counted() {
    let mut world = comparing((2 << 10) + (6 << 10));
    let block = "x".repeat(1000);
    for nth in 0..5 {
        world.send(&client(100 + 1000 * nth, &block));
    }
    world.send(&client(100, &"y".repeat(1000)));
    assert_eq!(world.log.anomalies, []);
    assert_eq!(world.reassembler.stats().uncompared, 1000);
    world.send(&client(4100, &"y".repeat(1000)));
    assert_eq!(world.log.anomalies, [Anomaly::OverlapDiffers]);
    world.end(3);
    world.handshake(2100, 500, 60_000);
    world.send(&client(2100, &"z".repeat(1000)));
    world.send(&client(2100, &"z".repeat(1000)));
    assert_eq!(world.log.anomalies.len(), 1);
    assert_eq!(world.reassembler.stats().compared, 2000);
}

/// RFC 7323 §3.2: time stamps after the handshake mean that they were negotiated in it, also if the
/// capture lacks it; Suricata concludes the same.
#[test]
fn old_time_stamps_are_dropped_where_the_handshake_is_missing() {
    let stamp = |value: u8| [1, 1, 8, 10, 0, 0, 0, value, 0, 0, 0, 0];
    let mut world = first_wins();
    for (seq, value, bytes) in [
        (100, 100, "one"),
        (103, 101, "two"),
        (106, 50, "BAD"),
        (106, 101, "three"),
    ] {
        world.send(&Out {
            begins: seq == 100,
            options: &stamp(value),
            ..client(seq, bytes)
        });
    }
    assert_eq!(world.text(true), "onetwothree");
    assert_eq!(world.log.anomalies, [Anomaly::OldTimestamp]);
    // One that the first had overtaken is not an anomaly.
    world.send(&Out {
        options: &stamp(90),
        ..client(90, "0123456789")
    });
    assert_eq!(world.log.anomalies, [Anomaly::OldTimestamp]);
}

/// Linux treats a last time stamp of 0 as none: some systems send it in the handshake only.
#[test]
fn behind_a_time_stamp_of_zero_any_is_fresh() {
    let stamp = |value: u32| {
        let [a, b, c, d] = value.to_be_bytes();
        [1, 1, 8, 10, a, b, c, d, 0, 0, 0, 0]
    };
    let mut world = first_wins();
    let (zero, late) = (stamp(0), stamp(0xf000_0000));
    world.send(&Out {
        flags: SYN,
        begins: true,
        options: &zero,
        ..client(99, "")
    });
    world.send(&Out {
        flags: SYN_ACK,
        options: &zero,
        ..server(499, 100, "")
    });
    world.send(&Out {
        options: &late,
        ..client(100, "fresh")
    });
    assert_eq!(world.text(true), "fresh");
    assert_eq!(world.log.anomalies, []);
}

/// Data at or after the end of the window is dropped, however wide it opens later: data sent later
/// for the same place is the stream's, whatever the policy.
#[test]
fn data_behind_the_window_is_not_read_when_it_opens() {
    let fill = "x".repeat(1000);
    for &(policy, ..) in SegmentOverlap::ALL {
        for late in [false, true] {
            let mut world = World::new(&options(policy));
            world.handshake(100, 500, 1000);
            // The place is the same; the window is closed, or only as wide as the bytes before.
            if late {
                world.send(&client(1100, "GET /forged"));
            }
            world.send(&client(100, &fill));
            let closed = Out {
                window: 0,
                ..server(500, 1100, "")
            };
            world.send(&closed);
            if !late {
                world.send(&client(1100, "GET /forged"));
            }
            world.send(&closed);
            world.send(&server(500, 1100, ""));
            assert_eq!(world.text(true), fill, "{policy:?} {late}");
            world.send(&client(1100, "GET /real\r\n"));
            world.send(&server(500, 1111, ""));
            assert_eq!(
                world.text(true),
                format!("{fill}GET /real\r\n"),
                "{policy:?}"
            );
            assert_eq!(world.log.anomalies, [Anomaly::OverlapDiffers]);
        }
    }
}

/// The capture may lack the segment that opened the window: then the acknowledgement shows that the
/// data was accepted; if that is missing too, an open window at the end shows it.
#[test]
fn data_behind_a_window_that_had_opened_unseen_is_read() {
    for acknowledged in [true, false] {
        let mut world = open();
        world.send(&client(100, "ab"));
        world.send(&Out {
            window: 0,
            ..server(500, 102, "")
        });
        world.send(&client(102, "cd"));
        world.send(&client(104, "ef"));
        let to = if acknowledged { 106 } else { 104 };
        world.send(&server(500, to, ""));
        assert_eq!(
            world.text(true),
            if acknowledged { "abcdef" } else { "abcd" }
        );
        world.end(3);
        assert_eq!(world.text(true), "abcdef");
        assert_eq!(world.log.anomalies, []);
    }
}
