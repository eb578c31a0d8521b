//! Acknowledgements in segments that their receiver drops.
//!
//! RFC 9293 §3.10.7.4: a segment whose number lies outside the window is answered and dropped,
//! together with its acknowledgement. So it proves nothing about the other side's bytes: a hole
//! before them is still to be filled. If it is true, the next acknowledgement says the same.

mod support;

use flowpin_reassembly::Anomaly;
use support::{ACK, FIN, Out, SYN_ACK, World, client, first_wins, open, server};

const REQUEST: &str = "GET /real HTTP/1.1\r\n\r\n";
const SENT: u32 = 100 + 22;

/// Outside the client's window: 65,535 bytes from 500 on.
const OUTSIDE: [i32; 6] = [-5_000_000, -100_000, -50, 65_536, 70_000, 5_000_000];

/// The server's next number plus an offset.
fn at(offset: i32) -> u32 {
    500u32.wrapping_add_signed(offset)
}

/// The second part, a lie, the first part: all is read.
fn exchange(world: &mut World, from: u32, lie: &Out<'_>) {
    let (first, second) = REQUEST.split_at(10);
    world.send(&client(from + 10, second));
    world.send(lie);
    world.send(&client(from, first));
    world.send(&server(500, from + 22, ""));
}

/// Anywhere outside, with data or without, also if it closes, and if it comes before any data.
#[test]
fn what_is_outside_the_window_acknowledges_nothing() {
    for offset in OUTSIDE {
        for (flags, bytes) in [(ACK, ""), (ACK, "xxxx"), (FIN, ""), (FIN, "xxxx")] {
            let name = format!("{offset} {flags:?} {bytes}");
            let lie = Out {
                flags,
                ..server(at(offset), SENT, bytes)
            };
            let mut world = open();
            exchange(&mut world, 100, &lie);
            assert_eq!(world.text(true), REQUEST, "{name}");
            assert!(world.log.anomalies.contains(&Anomaly::InvalidAck), "{name}");
            world.end(3);
            assert_eq!(world.reassembler.stats().gaps, 0, "{name}");

            let mut world = open();
            world.send(&lie);
            exchange(&mut world, 100, &server(500, 100, ""));
            assert_eq!(world.text(true), REQUEST, "{name}, early");
        }
    }
}

/// A keep-alive is outside as well: the byte that it repeats was acknowledged.
#[test]
fn a_keep_alive_acknowledges_nothing() {
    let mut world = open();
    exchange(&mut world, 100, &server(499, SENT, ""));
    assert_eq!(world.text(true), REQUEST);
    assert_eq!(world.log.anomalies, [Anomaly::InvalidAck]);
}

/// After the client has answered, it ignores SYN-ACKs.
#[test]
fn a_second_answer_to_the_syn_acknowledges_nothing() {
    for greeted in [false, true] {
        let mut world = open();
        if greeted {
            world.send(&client(100, ""));
        }
        let lie = Out {
            flags: SYN_ACK,
            ..server(499, SENT, "")
        };
        world.send(&lie);
        exchange(&mut world, 100, &lie);
        assert_eq!(world.text(true), REQUEST, "{greeted}");
    }
}

/// Nor does it if the capture lacks the handshake, so that the windows' scale is unknown.
#[test]
fn without_a_handshake_old_numbers_acknowledge_nothing() {
    for offset in [-5_000_000, -100_000, -50, -1] {
        let mut world = first_wins();
        world.send(&Out {
            begins: true,
            ..client(78, "HEAD / HTTP/1.1\r\n\r\n...")
        });
        world.send(&server(500, 100, ""));
        exchange(&mut world, 100, &server(at(offset), SENT, ""));
        let want = format!("HEAD / HTTP/1.1\r\n\r\n...{REQUEST}");
        assert_eq!(world.text(true), want, "{offset}");
    }
}

/// Inside the window it counts, however unusual: the client believes it, and retransmits nothing.
#[test]
fn what_is_inside_the_window_closes_a_hole() {
    for offset in [0, 100, 65_000] {
        let mut world = open();
        exchange(&mut world, 100, &server(at(offset), SENT, ""));
        let want = format!("{}{}", ".".repeat(10), &REQUEST[10..]);
        assert_eq!(world.text(true), want, "{offset}");
    }
}

/// The capture lacks most of an answer, so that the segment seems to be outside the window: what
/// was acknowledged meanwhile counts as soon as the client is seen to have advanced as far.
#[test]
fn a_true_acknowledgement_from_further_on_counts_later() {
    let mut world = open();
    world.send(&client(110, &REQUEST[10..]));
    world.send(&server(at(90_000), SENT, "end"));
    assert_eq!(world.text(true), "");
    world.send(&Out {
        ack: at(90_003),
        ..client(SENT, "")
    });
    world.send(&server(at(90_003), SENT, ""));
    let want = format!("{}{}", ".".repeat(10), &REQUEST[10..]);
    assert_eq!(world.text(true), want);
    assert_eq!(world.text(false).len(), 90_003);

    // If nothing more comes, at the end.
    let mut world = open();
    world.send(&client(110, &REQUEST[10..]));
    world.send(&server(at(90_000), SENT, "end"));
    world.end(3);
    assert_eq!(world.text(true), want);
}
