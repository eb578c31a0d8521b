//! The multiplied trace against its original.

use super::*;
use crate::pcap::{Writer, ethernet_file};
use std::collections::HashSet;

/// One's-complement sum over bytes; 0xffff where a header with its checksum is right.
fn sum(bytes: &[u8], start: u32) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|w| u32::from(w[0]) << 8 | w.get(1).map_or(0, |&b| u32::from(b)));
    addresses::fold(words.sum::<u32>() + start)
}

/// An Ethernet frame around UDP over IPv4, checksums right.
fn udp_frame(source: [u8; 4], destination: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let udp_len = u16::try_from(8 + payload.len()).unwrap();
    let mut udp = [0, 53, 0, 99, 0, 0, 0, 0].to_vec();
    udp[4..6].copy_from_slice(&udp_len.to_be_bytes());
    udp.extend_from_slice(payload);
    let mut pseudo = [source, destination].concat();
    pseudo.extend_from_slice(&[0, 17]);
    pseudo.extend_from_slice(&udp_len.to_be_bytes());
    let check = !sum(&udp, u32::from(sum(&pseudo, 0)));
    udp[6..8].copy_from_slice(&check.to_be_bytes());
    let mut ip = vec![0x45, 0, 0, 0, 0, 1, 0, 0, 64, 17, 0, 0];
    ip[2..4].copy_from_slice(&(udp_len + 20).to_be_bytes());
    ip.extend_from_slice(&source);
    ip.extend_from_slice(&destination);
    let check = !sum(&ip, 0);
    ip[10..12].copy_from_slice(&check.to_be_bytes());
    let mut frame = vec![0; 12];
    frame.extend_from_slice(&[8, 0]);
    frame.extend_from_slice(&ip);
    frame.extend_from_slice(&udp);
    frame
}

fn two_packets() -> Capture {
    let there = udp_frame([10, 0, 0, 1], [8, 8, 8, 8], b"question");
    let back = udp_frame([8, 8, 8, 8], [10, 0, 0, 1], b"answer!");
    let file = ethernet_file([(1_000, there.as_slice()), (900_000_000, &back)]).unwrap();
    Capture::parse(file).unwrap()
}

fn run(original: &Capture, replicas: u32, layout: Layout) -> Capture {
    let mut out = Vec::new();
    let written = multiply(original, replicas, layout, 7, &mut out).unwrap();
    let capture = Capture::parse(out).unwrap();
    assert_eq!(capture.packets.len() as u64, written.packets);
    capture
}

const WINDOW: Layout = Layout::Interleaved {
    window_ns: 10_000_000_000,
};

/// Tools that verify checksums must see every replica as clean as the original.
#[test]
fn checksums_hold_in_every_replica() {
    let many = run(&two_packets(), 50, WINDOW);
    for packet in &many.packets {
        let frame = many.data(packet);
        assert_eq!(sum(&frame[14..34], 0), 0xffff);
        let udp = &frame[34..];
        let pseudo = sum(&frame[26..34], 17 + u32::try_from(udp.len()).unwrap());
        assert_eq!(sum(udp, u32::from(pseudo)), 0xffff);
    }
}

/// Both directions of a connection stay one connection, and replicas never share one.
#[test]
fn each_replica_is_a_connection_of_its_own() {
    let many = run(&two_packets(), 50, WINDOW);
    let mut pairs = HashSet::new();
    for packet in &many.packets {
        let frame = many.data(packet);
        let mut pair = [frame[26..30].to_vec(), frame[30..34].to_vec()];
        pair.sort();
        pairs.insert(pair);
    }
    assert_eq!(pairs.len(), 50);
}

/// The output is one timeline, and appended replicas do not overlap.
#[test]
fn packets_come_in_order_of_time() {
    for layout in [WINDOW, Layout::Appended] {
        let many = run(&two_packets(), 20, layout);
        assert!(many.packets.is_sorted_by_key(|packet| packet.time_ns));
    }
    let many = run(&two_packets(), 2, Layout::Appended);
    let times: Vec<_> = many.packets.iter().map(|packet| packet.time_ns).collect();
    assert_eq!(times, [1_000, 900_000_000, 1_900_000_000, 2_799_999_000]);
}

/// Figures from two machines can be compared only if the traces are the same.
#[test]
fn the_same_input_gives_the_same_bytes() {
    let original = two_packets();
    assert_eq!(
        run(&original, 9, WINDOW).bytes,
        run(&original, 9, WINDOW).bytes
    );
}

/// A link type whose addresses would not be found must not pass for multiplied.
#[test]
fn other_link_types_are_refused() {
    let file = Writer::new(Vec::new(), 113, false).unwrap().finish();
    let original = Capture::parse(file.unwrap()).unwrap();
    assert!(multiply(&original, 2, WINDOW, 1, io::sink()).is_err());
}
