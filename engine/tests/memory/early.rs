//! Connections that are due in a granule in which records have to leave before its end.
//!
//! Whether their records leave with those depends on the shape, as each worker has its own room for
//! records, and on where pieces end. What others find of the memory must not.

use crate::{Memory, PIECES, SHAPES, assert_same, run};
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;

/// Nanoseconds between the ends of granules.
const GRANULE: u64 = 1 << 26;
/// The time-out of a TCP connection.
const TIMEOUT: u64 = 300_000_000_000;
/// The beginning of the granule in which the first connections are due.
const DUE: u64 = (1_700_000_000_000_000_000 / GRANULE + 1) * GRANULE;

/// What a connection says after its handshake: whether the client does, how far behind the
/// expected byte, and what.
type Said = Vec<(bool, u32, Vec<u8>)>;

/// A capture: `count` connections that say something; when they are due, enough records at once,
/// and then as many connections again.
fn capture(count: u16, said: &Said) -> Vec<u8> {
    let mut packets = Vec::new();
    talks(&mut packets, DUE - TIMEOUT, 1, count, said);
    for number in 0..3000u16 {
        let [high, low] = number.to_be_bytes();
        let mut query = b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x07example\x03com\0\0\x01\0\x01".to_vec();
        query[..2].copy_from_slice(&[high, low]);
        let ip = Ip::v4([10, 9, high, low], [192, 0, 2, 53]);
        let time = DUE + 20_000_000 + u64::from(number) * 1000;
        packets.push((time, ip.udp(5000, 53, &query).ethernet()));
    }
    talks(&mut packets, DUE + 40_000_000, 2, count, said);
    // Time goes on.
    let last = Ip::v4([10, 8, 0, 1], [192, 0, 2, 1]).udp(1, 2, b"x");
    packets.push((DUE + 2 * TIMEOUT, last.ethernet()));
    let timed = packets
        .iter()
        .map(|(time, frame)| (*time, frame.as_slice()));
    ethernet_file(timed).unwrap()
}

fn talks(packets: &mut Vec<(u64, Vec<u8>)>, start: u64, net: u8, count: u16, said: &Said) {
    let mut time = start;
    let mut send = |packet: flowpin_testkit::build::IpPacket| {
        time += 1000;
        packets.push((time, packet.ethernet()));
    };
    for number in 0..count {
        let [high, low] = number.to_be_bytes();
        let ip = Ip::v4([10, net, high, low], [192, 0, 2, 1]);
        let segment = |to_server: bool, seq, ack, how, bytes: &[u8]| {
            if to_server {
                ip.tcp(Tcp::new(5000, 7000, seq, ack, how), bytes)
            } else {
                let ip = ip.reversed();
                ip.tcp(Tcp::new(7000, 5000, seq, ack, how), bytes)
            }
        };
        send(segment(true, 1000, 0, flags::SYN, b""));
        send(segment(false, 5000, 1001, flags::SYN | flags::ACK, b""));
        let mut next = [1001, 5001];
        for (to_server, gap, bytes) in said {
            let [own, other] = [next[usize::from(!to_server)], next[usize::from(*to_server)]];
            send(segment(*to_server, own + gap, other, flags::ACK, bytes));
            if *gap == 0 {
                next[usize::from(!to_server)] += bytes.len() as u32;
            }
        }
    }
}

/// One answer, with this much memory; returns what was lost.
fn check(capture: &[u8], memory: Memory) -> Vec<(&'static str, u64)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("early.pcap");
    std::fs::write(&path, capture).unwrap();
    let inputs = [path];
    let expected = run(&inputs, memory, "1x1", PIECES[0]);
    for (shape, piece) in SHAPES.iter().zip(PIECES.iter().cycle().skip(1)) {
        let found = run(&inputs, memory, shape, *piece);
        let how = format!("{memory:?}, {shape}, pieces of {piece}");
        assert_same(&expected, &found, &how);
    }
    expected.losses
}

fn is_lost(losses: &[(&'static str, u64)], name: &str) -> bool {
    losses.iter().any(|(one, count)| *one == name && *count > 0)
}

#[test]
fn first_bytes_stay_taken_until_the_granule_ends() {
    // Could still become a request.
    let said = vec![(true, 0, [&b"GET"[..], &[b' '; 2500]].concat())];
    let memory = Memory {
        bytes: 64 << 20,
        decodes: false,
    };
    let losses = check(&capture(4000, &said), memory);
    assert!(is_lost(&losses, "identify_memory"), "{losses:?}");
}

#[test]
fn bytes_after_holes_stay_taken_until_the_granule_ends() {
    let request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let held = request.repeat(50);
    let mut said = vec![(true, 0, request.to_vec())];
    said.extend((0..5).map(|nth| (true, 1000 + nth * 1350, held.clone())));
    let memory = Memory {
        bytes: 64 << 20,
        decodes: false,
    };
    let losses = check(&capture(2000, &said), memory);
    assert!(is_lost(&losses, "reassembly_memory"), "{losses:?}");
}

/// Of which connections the anomalies are left out: with 1x1 the first ones due end before the
/// packets of the same granule, with seven workers and large pieces behind them.
#[test]
fn anomalies_of_ends_are_the_same_whenever_these_are_looked_at() {
    let request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let held = request.repeat(50);
    let mut said = vec![(true, 0, request.to_vec())];
    said.extend((0..5).map(|nth| (true, 1000 + nth * 1350, held.clone())));
    let memory = Memory {
        bytes: 64 << 20,
        decodes: false,
    };
    let folder = tempfile::tempdir().unwrap();
    let inputs = [folder.path().join("early.pcap")];
    std::fs::write(&inputs[0], capture(2000, &said)).unwrap();
    let expected = run(&inputs, memory, "1x1", PIECES[0]);
    for shape in ["1x7", "2x7", "3x7"] {
        let found = run(&inputs, memory, shape, 1_000_000);
        assert_same(&expected, &found, shape);
    }
}

/// Their budget is another one.
#[test]
fn decoders_stay_taken_until_the_granule_ends() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5000000\r\n\r\n";
    let start = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\0\xff\xff\0\0";
    let said = vec![
        (true, 0, b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n".to_vec()),
        (false, 0, [&head[..], start, &[b'b'; 500]].concat()),
    ];
    let memory = Memory {
        bytes: 48 << 20,
        decodes: true,
    };
    let losses = check(&capture(500, &said), memory);
    assert!(is_lost(&losses, "http_bodies"), "{losses:?}");
}
