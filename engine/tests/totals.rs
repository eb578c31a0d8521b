//! The summary, also above every cap: the same for any number of workers.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

use core::net::{IpAddr, Ipv6Addr};
use flowpin_config::{Format, Input, Plan};
use flowpin_counters::Loss;
use flowpin_engine::{Control, RunReport, Traffic};
use flowpin_testkit::build::Ip;
use flowpin_testkit::pcap::ethernet_file;
use std::path::{Path, PathBuf};

/// Sources of each family: more than twice as many as have exact rows.
const SOURCES: u32 = 330_000;

/// Datagrams of so many sources to one server, and of five that send much, amid them.
fn flood(is_ipv6: bool) -> Vec<u8> {
    let address = |number: u32| match is_ipv6 {
        true => IpAddr::V6(Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(number))),
        false => IpAddr::from((0x0a00_0000 + number).to_be_bytes()),
    };
    let server = address(0);
    let mut frames = Vec::new();
    for nth in 1..=SOURCES {
        let port = 1024 + (nth % 50_000) as u16;
        let light = Ip::new(address(nth), server);
        frames.push(light.udp(port, 53, &vec![0; nth as usize % 90]).ethernet());
        if nth % 50 == 0 {
            let heavy = Ip::new(address(SOURCES + nth / 50 % 5), server);
            let port = 1024 + (nth / 250) as u16;
            frames.push(heavy.udp(port, 5000, &[0; 900]).ethernet());
        }
    }
    let timed = frames.iter().zip(1u64..);
    ethernet_file(timed.map(|(frame, n)| (n * 10_000, frame.as_slice()))).unwrap()
}

fn run(capture: &Path, pipeline: &str, memory_bytes: u64) -> RunReport {
    let mut plan = Plan {
        inputs: vec![Input::File(capture.to_owned())],
        pipeline: pipeline.parse().unwrap(),
        memory_bytes,
        ..Plan::default()
    };
    plan.output.formats = vec![Format::None];
    flowpin_engine::run(&plan, &Control::default(), &()).unwrap()
}

fn assert_same(one: &RunReport, other: &RunReport, what: &str) {
    assert_eq!(one.found.hosts, other.found.hosts, "{what}");
    assert_eq!(one.found.vlans, other.found.vlans, "{what}");
    assert_eq!(one.found.scans, other.found.scans, "{what}");
    assert_eq!(one.losses, other.losses, "{what}");
    let [one, other] = [one, other].map(|report| &report.found.connections);
    assert_eq!(one.by_state, other.by_state, "{what}");
    assert_eq!(one.by_protocol, other.by_protocol, "{what}");
    assert_eq!(one.by_app, other.by_app, "{what}");
    assert_eq!(one.by_port, other.by_port, "{what}");
    assert_eq!(one.by_unknown_port, other.by_unknown_port, "{what}");
}

fn check(is_ipv6: bool, memory_bytes: u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flood.pcap");
    std::fs::write(&path, flood(is_ipv6)).unwrap();
    let whole = run(&path, "1x1", memory_bytes);
    let hosts = &whole.found.hosts;
    // Otherwise it would not be tested that caps are reached.
    for loss in [Loss::AddressesSummed, Loss::HostPairsSummed] {
        assert!(whole.losses.of(loss) > 0, "{}", loss.name());
    }
    let listed: Vec<u64> = hosts
        .talkers
        .rows
        .iter()
        .map(|row| row.traffic.bytes)
        .collect();
    let server = whole.frame_bytes;
    assert!(
        listed[0].abs_diff(server) < server / 1000,
        "{} of {server}",
        listed[0]
    );
    // Five sources of 1,320 datagrams, then those of one.
    let heavy = u64::from(SOURCES) / 250 * 942;
    for bytes in &listed[1..6] {
        assert!(bytes.abs_diff(heavy) < heavy / 10, "{bytes} of {heavy}");
    }
    assert!(listed[6..].iter().all(|&bytes| bytes < 300), "{listed:?}");
    for pipeline in ["2x2", "2x3", "3x3"] {
        assert_same(&run(&path, pipeline, memory_bytes), &whole, pipeline);
    }
}

/// More IPv4 addresses and pairs than have exact rows.
#[test]
fn more_ipv4_addresses_than_rows() {
    check(false, 1 << 30);
}

/// The same of IPv6.
#[test]
fn more_ipv6_addresses_than_rows() {
    check(true, 1 << 30);
}

/// The same in little memory, where connections end early because their shard is full.
#[test]
fn more_addresses_than_rows_in_little_memory() {
    check(false, 64 << 20);
    check(true, 64 << 20);
}

/// Each VLAN by its outermost two tags, and what has none: every connection, packet and byte is in
/// one of them.
#[test]
fn vlans_and_connections_without_one() {
    let address = |number: u16| IpAddr::from((0x0a00_0000 + u32::from(number)).to_be_bytes());
    let frames = (0..12_000u16).map(|nth| {
        let ip = Ip::new(address(nth % 3_000), address(60_000));
        let datagram = ip.udp(1024 + nth % 3_000, 5000, &vec![0; usize::from(nth % 300)]);
        match nth % 4 {
            0 => datagram.ethernet(),
            1 => datagram.tagged(&[200, nth % 60]),
            _ => datagram.tagged(&[7]),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), frames);
    let whole = run(&path, "1x1", 1 << 30);
    let vlans = &whole.found.vlans;
    let traffic = |outer, inner| {
        let mut rows = vlans.tagged.rows.iter();
        let row = rows.find(|row| (row.key.outer, row.key.inner) == (outer, inner));
        row.unwrap().traffic
    };
    assert_eq!(vlans.untagged.connections, 750);
    let one = traffic(7, None);
    assert_eq!((one.connections, one.packets), (1_500, 6_000));
    // 1, 5, 9, … 57: fifteen inner tags.
    assert_eq!((vlans.tagged.keys, vlans.tagged.rows.len()), (16, 16));
    assert_eq!(traffic(200, Some(57)).connections, 50);
    let rows = vlans.tagged.rows.iter().map(|row| row.traffic);
    let all: Vec<Traffic> = rows.chain([vlans.untagged]).collect();
    assert_eq!(
        all.iter().map(|one| one.packets).sum::<u64>(),
        whole.packets
    );
    assert_eq!(
        all.iter().map(|one| one.bytes).sum::<u64>(),
        whole.frame_bytes
    );
    for pipeline in ["2x2", "2x3", "3x3"] {
        assert_same(&run(&path, pipeline, 1 << 30), &whole, pipeline);
    }
}

/// More pairs of tags than have exact rows: the heavy one is found, and the table is the same for
/// any number of workers.
#[test]
fn more_vlans_than_rows() {
    let frames = (0..200_000u32).map(|nth| {
        let (client, server) = (0x0a00_0000 + nth % 5_000, 0x0b00_0000 + nth / 5_000);
        let [client, server] = [client, server].map(|one| IpAddr::from(one.to_be_bytes()));
        let ip = Ip::new(client, server);
        let (tags, len) = match nth % 20 {
            0 => ([4000, 5], 900),
            _ => ([(nth % 3_999) as u16, (nth / 3_999) as u16], nth % 90),
        };
        ip.udp(9_000, 5000, &vec![0u8; len as usize]).tagged(&tags)
    });
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), frames);
    let whole = run(&path, "1x1", 1 << 30);
    assert!(whole.losses.of(Loss::VlansSummed) > 0);
    let first = whole.found.vlans.tagged.rows[0];
    assert_eq!((first.key.outer, first.key.inner), (4000, Some(5)));
    let heavy = 10_000 * (14 + 8 + 20 + 8 + 900);
    assert!(
        first.traffic.bytes.abs_diff(heavy) < heavy / 100,
        "{first:?}"
    );
    for pipeline in ["2x2", "3x3"] {
        assert_same(&run(&path, pipeline, 1 << 30), &whole, pipeline);
    }
}

fn write(folder: &Path, frames: impl Iterator<Item = Vec<u8>>) -> PathBuf {
    let frames: Vec<_> = frames.collect();
    let timed = frames.iter().zip(1u64..);
    let file = ethernet_file(timed.map(|(frame, n)| (n * 10_000, frame.as_slice()))).unwrap();
    let path = folder.join("tagged.pcap");
    std::fs::write(&path, file).unwrap();
    path
}
