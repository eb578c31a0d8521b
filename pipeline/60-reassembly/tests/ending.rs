//! How connections end, segment by segment, and streams that the consumer skips.

mod support;

use flowpin_config::SegmentOverlap;
use flowpin_reassembly::{Anomaly, Closed, ReassemblyOptions};
use support::{FIN, Out, SYN, SYN_ACK, World, client, open, options, server};

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
    // Half closed: the server still sends.
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

/// The end may arrive before earlier bytes; bytes after it do not belong to the stream.
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
    assert_eq!(world.log.closed, [], "nobody has acknowledged it");
    world.send(&server(500, 105, ""));
    assert_eq!(world.log.closed, [], "or a byte of what lies in its place");
    world.send(&client(110, "more"));
    world.end(3);
    let closed = [(3, true, Closed::Fin), (3, false, Closed::Ended)];
    assert_eq!(world.log.closed, closed);
    let stats = world.reassembler.stats();
    assert_eq!((stats.after_close, stats.held), (10, 0));
    assert_eq!(world.log.anomalies, [Anomaly::DataAfterClose]);
}

/// Beyond the depth nothing is delivered or held, but the end is still reported.
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
    world.end(3);
    let closed = [(3, true, Closed::Fin), (3, false, Closed::Ended)];
    assert_eq!(world.log.closed, closed);
}

/// A consumer that skips a stream gets no more of it, and all of the other.
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
    world.end(3);
    let closed = [(3, true, Closed::Fin), (3, false, Closed::Ended)];
    assert_eq!(world.log.closed, closed);
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
        (103, "YYY"),
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
    // Any handle is allowed.
    reassembler.end(9, &mut ());
    reassembler.skip(9, false);
    reassembler.prefetch(u32::MAX);
}

/// Uncaptured bytes are a gap once the receiver has them and the sender has advanced as far; an
/// acknowledgement alone, which can be forged, is not enough.
#[test]
fn a_hole_is_a_gap_once_both_sides_went_past_it() {
    let mut world = open();
    world.send(&server(500, 150, ""));
    world.send(&client(100, "ab"));
    assert_eq!(world.text(true), "ab");
    world.send(&client(110, "cd"));
    assert_eq!(world.text(true), "ab");
    world.send(&client(150, ""));
    assert_eq!(
        world.text(true),
        "ab........cd......................................"
    );
    // Also if only a number without data shows it.
    world.send(&server(500, 160, ""));
    world.send(&client(160, ""));
    world.end(3);
    assert_eq!(world.reassembler.stats().gap_bytes, 56);
}
