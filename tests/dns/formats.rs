//! The same messages in every format: how many there are, and which number each record has.

use flowpin_testkit::build::Ip;
use flowpin_testkit::{pcap, product};
use serde_json::Value;
use std::collections::BTreeMap;

/// Two connections; on each three requests, of which the second has no response.
fn capture() -> Vec<u8> {
    let mut frames = Vec::new();
    for port in [40_000, 40_001] {
        for id in 1..=3 {
            let ip = Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]);
            frames.push(ip.udp(port, 53, &message(id, 0x01)).ethernet());
            if id != 2 {
                let response = message(id, 0x81);
                frames.push(ip.reversed().udp(53, port, &response).ethernet());
            }
        }
    }
    let times = (0..).map(|number| 1_700_000_000_000_000_000 + number * 1_000_000);
    pcap::ethernet_file(times.zip(frames.iter().map(Vec::as_slice))).unwrap()
}

/// A question for the address of `a.test`.
fn message(id: u8, flags: u8) -> Vec<u8> {
    let header = [0, id, flags, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    [&header[..], b"\x01a\x04test\0\0\x01\0\x01"].concat()
}

/// What is written, and what the summary counts.
fn run(formats: &str) -> (BTreeMap<String, Vec<u8>>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let (path, logs) = (folder.path().join("a.pcap"), folder.path().join("logs"));
    std::fs::write(&path, capture()).unwrap();
    let (path, to) = (path.to_str().unwrap(), logs.to_str().unwrap());
    let words = ["run", "--json", "--format", formats, "-r", path, "-l", to];
    let outcome = product::run(&words).unwrap();
    assert!(outcome.analysed(), "{}", outcome.stderr);
    // There is no folder where nothing is written.
    let files = product::files(&logs).unwrap_or_default();
    (
        files,
        outcome.json().unwrap()["messages"]["by_kind"].clone(),
    )
}

/// Messages count once, and under their protocol's name.
#[test]
fn the_summary_counts_messages_the_same_for_every_format() {
    let expected = serde_json::json!({ "dns": 10 });
    for formats in ["eve", "none", "zeek", "csv", "parquet", "eve,zeek-json"] {
        assert_eq!(run(formats).1, expected, "{formats}");
    }
}

/// Transactions are numbered from 0 on each connection, also where events are written beside.
#[test]
fn transactions_are_numbered_on_each_connection() {
    let (files, _) = run("csv");
    let text = String::from_utf8(files["dns.csv"].clone()).unwrap();
    let mut numbers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in text.lines().skip(1) {
        // Behind it stands the packet's number alone.
        let number = row.rsplit(',').nth(1).unwrap();
        let uid = row.split(',').nth(1).unwrap();
        numbers.entry(uid).or_default().push(number);
    }
    assert_eq!(numbers.len(), 2);
    for numbers in numbers.values_mut() {
        numbers.sort_unstable();
        assert_eq!(*numbers, ["0", "1", "2"], "{text}");
    }
    let (both, _) = run("eve,csv");
    assert!(both["dns.csv"] == files["dns.csv"]);
    let events = String::from_utf8(both["eve.json"].clone()).unwrap();
    let events = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let numbers = events.filter_map(|event: Value| event["tx_id"].as_u64());
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
}
