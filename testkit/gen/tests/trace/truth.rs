//! The truth is the truth: connections, packets, bytes and hashes as a reader finds them.

use crate::measure::{ACK, Packet, SYN, packets};
use flowpin_gen::{Format, Kind, Options, Troubles, Tunnel, generate};
use flowpin_testkit::pcap::Capture;
use proptest::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::net::IpAddr;

type End = (IpAddr, u16);

/// One connection, as found: client, server, and both sides' segments.
#[derive(Default)]
struct Found {
    packets: [u64; 2],
    frame_bytes: [u64; 2],
    first_seq: [Option<u32>; 2],
    segments: [Vec<(u32, Vec<u8>)>; 2],
    last_ns: u64,
}

impl Found {
    fn repeats(&self, side: usize, packet: &Packet<'_>) -> bool {
        let last = self.segments[side].last();
        packet.time_ns == self.last_ns + 1 && last.is_some_and(|(_, data)| data == packet.data)
    }
}

fn make(options: &Options) -> (Capture, Value) {
    let (mut bytes, mut truth) = (Vec::new(), Vec::new());
    generate(options, &mut bytes, Some(&mut truth)).unwrap();
    (
        Capture::parse(bytes).unwrap(),
        serde_json::from_slice(&truth).unwrap(),
    )
}

/// By (client, server); who sent the first packet is the client.
fn connections(packets: &[Packet<'_>]) -> HashMap<(End, End), Found> {
    let mut found: HashMap<(End, End), Found> = HashMap::new();
    for packet in packets {
        let back = (packet.destination, packet.source);
        let (key, side) = if found.contains_key(&back) {
            (back, 1)
        } else {
            ((packet.source, packet.destination), 0)
        };
        let connection = found.entry(key).or_default();
        connection.packets[side] += 1;
        connection.frame_bytes[side] += u64::from(packet.frame_len);
        if packet.protocol == 6 && packet.flags & SYN != 0 {
            connection.first_seq[side] = Some(packet.seq.wrapping_add(1));
        } else if packet.protocol == 17 && connection.repeats(side, packet) {
            // Captured twice, a nanosecond later.
        } else if !packet.data.is_empty() {
            connection.last_ns = packet.time_ns;
            let first = connection.first_seq[side].unwrap_or(0);
            let offset = packet.seq.wrapping_sub(first);
            // Datagrams follow each other.
            let at = if packet.protocol == 6 {
                offset
            } else {
                connection.segments[side]
                    .iter()
                    .map(|(_, data)| data.len() as u32)
                    .sum()
            };
            connection.segments[side].push((at, packet.data.to_vec()));
        }
        assert!(packet.protocol == 17 || packet.flags & (SYN | ACK | 4) != 0);
    }
    found
}

/// What the receiver reads.
fn stream(segments: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut sorted = segments.to_vec();
    sorted.sort();
    let mut stream = Vec::new();
    for (at, data) in sorted {
        let at = at as usize;
        assert!(at <= stream.len(), "a hole at {}", stream.len());
        let known = stream.len() - at;
        assert_eq!(
            data[..known.min(data.len())],
            stream[at..(at + data.len()).min(stream.len())]
        );
        stream.extend_from_slice(data.get(known..).unwrap_or_default());
    }
    stream
}

fn check(options: &Options) {
    let (capture, truth) = make(options);
    let read = packets(&capture);
    assert!(
        read.is_sorted_by_key(|packet| packet.time_ns),
        "one timeline"
    );
    let mut found = connections(&read);
    let told = truth["connections"].as_array().unwrap();
    assert_eq!(
        told.len() as u64,
        truth["totals"]["connections"].as_u64().unwrap()
    );
    for connection in told {
        let end = |who: &str| -> End {
            let port = connection[format!("{who}_port")].as_u64().unwrap();
            (
                connection[who].as_str().unwrap().parse().unwrap(),
                port as u16,
            )
        };
        let is = found.remove(&(end("client"), end("server"))).unwrap();
        for side in 0..2 {
            let stream = stream(&is.segments[side]);
            let number = |what: &str| connection[what][side].as_u64().unwrap();
            assert_eq!(number("packets"), is.packets[side]);
            assert_eq!(number("frame_bytes"), is.frame_bytes[side]);
            assert_eq!(number("payload_bytes"), stream.len() as u64);
            let hash = format!("{:x}", Sha256::digest(&stream));
            assert_eq!(connection["sha256"][side].as_str().unwrap(), hash);
        }
    }
    assert!(
        found.is_empty(),
        "{} connections that nobody told",
        found.len()
    );
}

/// Tests of readers stand on this: what the generator says it sent, it sent.
#[test]
fn every_kind_tells_the_truth() {
    for kind in [
        Kind::Http,
        Kind::Fix,
        Kind::Mix,
        Kind::Dns,
        Kind::Scan,
        Kind::Connections,
    ] {
        check(&Options {
            connections: 300,
            v6: 0.2,
            ..Options::new(kind)
        });
    }
}

/// Whatever goes wrong on the way, the receiver reads what was sent.
#[test]
fn troubles_do_not_change_what_is_said() {
    let troubles = Troubles {
        lost: 0.05,
        reordered: 0.05,
        retransmitted: 0.05,
        duplicated: 0.05,
        missing: 0.0,
    };
    let options = Options {
        connections: 300,
        troubles,
        ..Options::new(Kind::Http)
    };
    let (_, truth) = make(&options);
    let totals = &truth["totals"];
    for what in ["lost", "reordered", "retransmitted", "duplicated"] {
        assert!(totals[what].as_u64().unwrap() > 20, "{what}: {totals}");
    }
    check(&options);
}

/// A capture that lacks segments says which connections lack how much.
#[test]
fn missing_segments_are_told() {
    let troubles = Troubles {
        missing: 0.05,
        ..Troubles::default()
    };
    let options = Options {
        connections: 200,
        troubles,
        ..Options::new(Kind::Http)
    };
    let (capture, truth) = make(&options);
    let read = packets(&capture);
    let there: usize = read.iter().map(|packet| packet.data.len()).sum();
    let sum = |what: &str, of: &Value| match &of[what] {
        Value::Array(sides) => sides.iter().map(|side| side.as_u64().unwrap()).sum::<u64>(),
        number => number.as_u64().unwrap(),
    };
    let told = truth["connections"].as_array().unwrap();
    let payload: u64 = told.iter().map(|one| sum("payload_bytes", one)).sum();
    let missing: u64 = told.iter().map(|one| sum("missing_bytes", one)).sum();
    assert!(missing > 0);
    assert_eq!(payload - missing, there as u64);
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Http),
        Just(Kind::Fix),
        Just(Kind::Mix),
        Just(Kind::Dns),
        Just(Kind::Connections),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever is asked for, what comes is whole: lengths, checksums, streams, hashes.
    #[test]
    fn any_options_make_a_true_trace(
        kind in kinds(),
        seed in any::<u64>(),
        connections in 1u64..60,
        packets_per_connection in 1.0f64..80.0,
        packet_len in 54.0f64..1500.0,
        concurrency in 1.0f64..100.0,
        shares in prop::array::uniform4(0.0f64..0.5),
        header_len in prop::option::of(0u32..4000),
        mtu in 296u16..9000,
        vlans in prop::collection::vec(1u16..4000, 0..3),
        reset in 0.0f64..1.0,
    ) {
        // This reader puts no fragments together.
        let is_udp = matches!(kind, Kind::Mix | Kind::Dns);
        let mtu = if is_udp { mtu.max(2000) } else { mtu };
        let options = Options {
            seed,
            connections,
            packets_per_connection,
            packet_len,
            concurrency,
            straddling: shares[0],
            chunked: shares[1],
            v6: shares[2],
            troubles: Troubles { lost: shares[3] / 5.0, reordered: shares[3] / 5.0,
                duplicated: shares[3] / 5.0, ..Troubles::default() },
            header_len,
            mtu,
            vlans,
            reset,
            ..Options::new(kind)
        };
        check(&options);
    }

    /// Layers around change nothing inside, and both formats hold the same.
    #[test]
    fn tunnels_and_formats_hold_the_same_packets(which in 0usize..6) {
        let tunnel = [Tunnel::None, Tunnel::Vxlan, Tunnel::Geneve, Tunnel::Gre, Tunnel::Gtpu,
            Tunnel::IpInIp][which];
        let options = Options { connections: 20, tunnel, ..Options::new(Kind::Http) };
        let ng = Options { format: Format::PcapNg, ..options.clone() };
        let ((classic, _), (ng, _)) = (make(&options), make(&ng));
        prop_assert_eq!(classic.packets.len(), ng.packets.len());
        for (one, other) in classic.packets.iter().zip(&ng.packets) {
            prop_assert_eq!(one.time_ns, other.time_ns);
            prop_assert_eq!(classic.data(one), ng.data(other));
        }
    }
}
