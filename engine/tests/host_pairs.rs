//! Records of host pairs: the sums of the connections' records, the same for any number of workers,
//! also where there are more pairs than fit.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

use core::net::IpAddr;
use flowpin_config::{Format, Input, Plan};
use flowpin_engine::Control;
use flowpin_testkit::build::Ip;
use flowpin_testkit::pcap::ethernet_file;
use std::collections::BTreeMap;
use std::path::Path;

/// Sums of one pair: connections, packets and bytes each way.
type Sums = [u64; 5];

/// Names of columns; none: 1 for each record.
type Columns<'a> = [Option<&'a str>; 5];

/// Questions and answers of many pairs, over some hours, so that connections end all the time.
fn capture(pairs: u32) -> Vec<u8> {
    let address = |number: u32| IpAddr::from((0x0a00_0000 + number).to_be_bytes());
    let mut frames = Vec::new();
    for nth in 0..3 * pairs {
        let pair = nth.wrapping_mul(2_654_435_761) % pairs;
        let (client, server) = (address(pair), address(0x0010_0000 + pair % 7));
        let port = 1024 + (nth / pairs) as u16;
        let there = Ip::new(client, server);
        let length = nth as usize % 300;
        frames.push(there.udp(port, 5000, &vec![0; length]).ethernet());
        if nth % 3 == 0 {
            let back = Ip::new(server, client);
            frames.push(back.udp(5000, port, &vec![0; 2 * length]).ethernet());
        }
    }
    let timed = frames.iter().zip(1u64..);
    ethernet_file(timed.map(|(frame, n)| (n * 200_000_000, frame.as_slice()))).unwrap()
}

/// The files that a run writes.
fn run(capture: &Path, pipeline: &str, memory_bytes: u64) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = Plan {
        inputs: vec![Input::File(capture.to_owned())],
        pipeline: pipeline.parse().unwrap(),
        memory_bytes,
        ..Plan::default()
    };
    plan.output.dir = folder.path().to_owned();
    plan.output.host_pairs = true;
    plan.output.formats = vec![Format::Eve, Format::ZeekTsv, Format::Csv, Format::Parquet];
    flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read(path).unwrap())
    });
    files.collect()
}

/// The sums of each pair in a CSV file, and how many records they are of.
fn sums(csv: &[u8], columns: Columns<'_>) -> (BTreeMap<(String, String), Sums>, usize) {
    let text = core::str::from_utf8(csv).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let place = |name: &str| head.iter().position(|one| *one == name).unwrap();
    let (mut sums, mut records) = (BTreeMap::<_, Sums>::new(), 0);
    for line in lines {
        let host = |name| line[place(name)].to_owned();
        let row = sums
            .entry((host("id_orig_h"), host("id_resp_h")))
            .or_default();
        for (sum, column) in row.iter_mut().zip(columns) {
            *sum += column.map_or(1, |name| line[place(name)].parse().unwrap());
        }
        records += 1;
    }
    (sums, records)
}

const SENT: [Option<&str>; 4] = [
    Some("orig_pkts"),
    Some("resp_pkts"),
    Some("orig_frame_bytes"),
    Some("resp_frame_bytes"),
];

fn check(pairs: u32, memory_bytes: u64) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pairs.pcap");
    std::fs::write(&path, capture(pairs)).unwrap();
    let whole = run(&path, "1x1", memory_bytes);
    let with = |first| [first, SENT[0], SENT[1], SENT[2], SENT[3]];
    let (expected, _) = sums(&whole["conn.csv"], with(None));
    let (found, records) = sums(&whole["host_pairs.csv"], with(Some("connections")));
    assert_eq!(found, expected);
    assert_eq!(found.len(), pairs as usize);
    let events = String::from_utf8(whole["eve.json"].clone()).unwrap();
    let events = events.lines().filter(|line| line.contains("\"host_pair\""));
    assert_eq!(events.count(), records);
    for pipeline in ["2x2", "2x3", "3x3"] {
        let other = run(&path, pipeline, memory_bytes);
        assert!(whole.keys().eq(other.keys()));
        for (name, bytes) in &whole {
            assert!(other[name] == *bytes, "{name} in {pipeline}");
        }
    }
    records
}

/// One record a pair.
#[test]
fn pairs_are_the_sums_of_their_connections() {
    assert_eq!(check(3_000, 1 << 30), 3_000);
}

/// More pairs than fit: several records a pair, whose sums are exact.
#[test]
fn more_pairs_than_fit_are_written_in_parts() {
    let pairs = 10_000;
    assert!(check(pairs, 64 << 20) > pairs as usize);
}
