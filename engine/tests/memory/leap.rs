//! A leap of the clock, over which more connections end than there is room for on the way to the
//! output.

use crate::{Memory, SHAPES, run};
use flowpin_testkit::build::Ip;
use flowpin_testkit::pcap::ethernet_file;
use std::sync::mpsc;
use std::time::Duration;

/// Each worker has megabytes of records at once, but one packet shows the leap, to one of them.
#[test]
fn a_leap_over_many_open_connections_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leap.pcap");
    let frame = |number: u32| {
        let [_, a, b, c] = number.to_be_bytes();
        Ip::v4([10, a, b, c], [192, 0, 2, 1])
            .udp(5000, 5001, b"hello")
            .ethernet()
    };
    let start = 1_700_000_000_000_000_000u64;
    let mut packets: Vec<_> = (0..60_000u32)
        .map(|number| (start + u64::from(number) * 1000, frame(number)))
        .collect();
    // So many pieces and more.
    for day in 1..4 {
        packets.push((start + day * 86_400_000_000_000, frame(1)));
    }
    let timed = packets
        .iter()
        .map(|(time, frame)| (*time, frame.as_slice()));
    std::fs::write(&path, ethernet_file(timed).unwrap()).unwrap();
    let memory = Memory {
        bytes: 64 << 20,
        decodes: false,
    };
    let (ended, ends) = mpsc::channel();
    std::thread::spawn(move || {
        let answers =
            SHAPES.map(|shape| run(std::slice::from_ref(&path), memory, shape, 256 << 10));
        let is_same = answers.windows(2).all(|pair| pair[0] == pair[1]);
        ended.send(is_same).unwrap();
    });
    let is_same = ends
        .recv_timeout(Duration::from_secs(300))
        .expect("a run stands still");
    assert!(is_same, "one answer for any shape");
}
