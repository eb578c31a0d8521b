//! Bytes of a host whose SYN was not seen, to one that has only sent a SYN: dropped by their
//! receiver (RFC 9293 §3.10.7.3), or the SYN-ACK before them was not captured, or comes late.

use crate::support::{FIN, Out, RST, SYN, SYN_ACK, World, client, options, server};
use flowpin_config::SegmentOverlap;
use flowpin_reassembly::Anomaly;

/// A client that has sent a SYN: its first byte is 100, the server's 500.
fn asked() -> World {
    let mut world = World::new(&options(SegmentOverlap::First));
    world.send(&Out {
        flags: SYN,
        begins: true,
        ..client(99, "")
    });
    world
}

fn answer() -> Out<'static> {
    Out {
        flags: SYN_ACK,
        ..server(499, 100, "")
    }
}

fn read(world: &World) -> (String, String) {
    (world.text(true), world.text(false))
}

/// The client goes on: it was answered, and everything counts.
#[test]
fn an_answer_that_was_not_captured_is_believed() {
    let mut world = asked();
    world.send(&server(500, 100, "220 mx\r\n"));
    assert_eq!(world.text(false), "", "it waits");
    world.send(&Out {
        ack: 508,
        ..client(100, "EHLO c\r\n")
    });
    assert_eq!(read(&world), ("EHLO c\r\n".into(), "220 mx\r\n".into()));
    world.send(&Out {
        ack: 508,
        ..client(108, "MAIL")
    });
    world.end(3);
    assert_eq!(read(&world), ("EHLO c\r\nMAIL".into(), "220 mx\r\n".into()));
    assert_eq!(world.log.anomalies, []);
}

/// Nothing else is captured: it counts in the end.
#[test]
fn the_only_answer_counts_in_the_end() {
    let mut world = asked();
    world.send(&server(507, 100, "\n"));
    world.send(&server(500, 100, "220 mx\r"));
    world.send(&Out {
        flags: FIN,
        ..server(508, 100, "")
    });
    world.end(3);
    assert_eq!(read(&world), (String::new(), "220 mx\r\n".into()));
    assert_eq!(world.log.anomalies, []);
}

/// A SYN-ACK that was captured late: what came before it counts once the client has it.
#[test]
fn a_syn_ack_may_come_late() {
    let mut world = asked();
    world.send(&server(500, 100, "220 mx\r\n"));
    world.send(&answer());
    world.send(&Out {
        ack: 508,
        ..client(100, "EHLO c\r\n")
    });
    assert_eq!(read(&world), ("EHLO c\r\n".into(), "220 mx\r\n".into()));
}

/// With the numbers that the SYN-ACK will have, or others: the client drops it.
#[test]
fn forged_bytes_lose_against_those_after_the_syn_ack() {
    for (seq, ack) in [
        (500, 100),
        (500, 99),
        (503, 100),
        (7, 100),
        (0x8000_0000, 5000),
    ] {
        let mut world = asked();
        world.send(&server(seq, ack, "599 evil"));
        world.send(&answer());
        world.send(&client(100, ""));
        world.send(&client(100, "GET /"));
        world.send(&server(500, 105, "200 fine"));
        world.send(&Out {
            ack: 508,
            ..client(105, "")
        });
        assert_eq!(
            read(&world),
            ("GET /".into(), "200 fine".into()),
            "{seq} {ack}"
        );
    }
}

/// RFC 9293 §3.10.7.3: a client resets what it did not ask for and sends its SYN again; nothing of
/// that is odd.
#[test]
fn a_reset_of_an_earlier_connections_segment_ends_nothing() {
    let mut world = asked();
    world.send(&server(7_000, 90_000, ""));
    world.send(&Out {
        flags: RST,
        ..client(90_000, "")
    });
    world.send(&Out {
        flags: SYN,
        ..client(99, "")
    });
    world.send(&answer());
    world.send(&client(100, "GET /"));
    world.send(&server(500, 105, "200 OK"));
    assert_eq!(read(&world), ("GET /".into(), "200 OK".into()));
    assert!(!world.log.anomalies.contains(&Anomaly::InvalidReset));
}
