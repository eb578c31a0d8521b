//! A segment that fills a hole: what waited behind it is read at once, however small it is.

use crate::{Memory, PIECES, SHAPES, assert_same, run};
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
/// Of pipelined requests after a hole, in segments.
const HELD: u32 = 8;
const CONNECTIONS: u16 = 1000;

/// Each connection's packets of one turn: those of all connections follow each other, so that many
/// of each shard are in a batch.
fn turn(number: u16, turn: u32) -> Vec<u8> {
    let [high, low] = number.to_be_bytes();
    let ip = Ip::v4([10, 1, high, low], [192, 0, 2, 1]);
    let back = ip.reversed();
    let segment = REQUEST.repeat(50);
    let len = segment.len() as u32;
    let first = REQUEST.len() as u32;
    let data = |seq, bytes: &[u8]| ip.tcp(Tcp::new(5000, 80, seq, 5001, flags::ACK), bytes);
    match turn {
        0 => ip.tcp(Tcp::new(5000, 80, 1000, 0, flags::SYN), b""),
        1 => back.tcp(Tcp::new(80, 5000, 5000, 1001, flags::SYN | flags::ACK), b""),
        2 => data(1001, REQUEST),
        turn if turn < 3 + HELD => data(1001 + 2 * first + (turn - 3) * len, &segment),
        // Some of a kind that ends streams, without a byte.
        _ if number.is_multiple_of(3) => {
            let fin = flags::FIN | flags::ACK;
            back.tcp(
                Tcp::new(80, 5000, 5001, 1001 + 2 * first + HELD * len, fin),
                b"",
            )
        }
        _ => data(1001 + first, REQUEST),
    }
    .ethernet()
}

/// With memory for a few of them, what is left out is the same wherever batches and pieces end.
#[test]
fn what_a_filled_hole_releases_is_left_out_in_the_order_of_packets() {
    let mut packets = Vec::new();
    for nth in 0..4 + HELD {
        packets.extend((0..CONNECTIONS).map(|number| turn(number, nth)));
    }
    let start = 1_700_000_000_000_000_000u64;
    let timed = (start..)
        .step_by(20_000)
        .zip(packets.iter().map(Vec::as_slice));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filled.pcap");
    std::fs::write(&path, ethernet_file(timed).unwrap()).unwrap();
    let inputs = [path];
    for megabytes in [1, 32] {
        let memory = Memory {
            bytes: megabytes << 20,
            decodes: false,
        };
        let expected = run(&inputs, memory, "1x1", PIECES[0]);
        assert!(!expected.losses.is_empty());
        for (shape, piece) in SHAPES.iter().zip(PIECES.iter().cycle().skip(1)) {
            let how = format!("{memory:?}, {shape}, pieces of {piece}");
            assert_same(&expected, &run(&inputs, memory, shape, *piece), &how);
        }
    }
}
