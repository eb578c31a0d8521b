//! Conditional recordings (`--record-if`): which packets they have, whatever the shape.

use crate::program::{assert_refused, capture, code, flowpin, stderr, stdout, summary, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Files of an earlier recording are told of before anything is analysed, not when their numbers
/// come.
#[test]
fn an_earlier_recording_is_not_gone_into() {
    let dir = tempfile::tempdir().unwrap();
    let (lab, all) = (capture("lab-day.pcapng"), dir.path().join("all.pcapng"));
    let earlier = dir.path().join("all-000007.pcapng");
    std::fs::write(&earlier, "before").unwrap();
    let words = [
        "run",
        "-q",
        "-r",
        &lab,
        "--format",
        "none",
        "--record-if",
        "app:dns",
    ];
    let record = [&words[..], &["--write-rotate", "20KiB", "-w", text(&all)]].concat();
    assert_refused(&flowpin(&record), 2, &["all-000007.pcapng"]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    // What only looks like one is none.
    std::fs::rename(&earlier, dir.path().join("all-7.pcapng")).unwrap();
    assert_eq!(code(&flowpin(&record)), 0);
}

/// Records what fits in each shape: the recording, which is the same, and its losses.
#[track_caller]
fn record(dir: &Path, args: &[&str]) -> (String, Value) {
    let mut all = Vec::new();
    for shape in ["1x1", "1x3", "2x2", "1x7"] {
        let path = dir.join(format!("{shape}.pcapng"));
        let to = ["--force", "--pipeline", shape, "-w", text(&path)];
        let told = summary(&[args, &to[..]].concat());
        all.push((std::fs::read(&path).unwrap(), told["losses"].clone()));
    }
    for other in &all {
        assert!(*other == all[0], "shapes differ: {args:?}");
    }
    (text(&dir.join("1x1.pcapng")).to_owned(), all[0].1.clone())
}

/// The connections of a capture: what they speak and how many packets they have, by uid.
#[track_caller]
fn connections(file: &str) -> BTreeMap<String, (Value, Value, Value)> {
    let output = flowpin(&["run", "-q", "-r", file, "--output", "-"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let records = stdout(&output).lines();
    let records = records.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let flows = records.filter(|record| record["event_type"] == "flow");
    let of = |record: Value| {
        let uid = record["flowpin"]["uid"].as_str().unwrap().to_owned();
        let flow = &record["flow"];
        let (up, down) = (&flow["pkts_toserver"], &flow["pkts_toclient"]);
        (uid, (record["app_proto"].clone(), up.clone(), down.clone()))
    };
    flows.map(of).collect()
}

/// All packets of the connections that speak a protocol, and none of others, also those before it
/// was known what they speak.
#[test]
fn a_recording_by_protocol_has_its_connections_whole() {
    let dir = tempfile::tempdir().unwrap();
    let lab = capture("lab-day.pcapng");
    let (recorded, losses) = record(dir.path(), &["-r", &lab, "--record-if", "app:dns"]);
    let mut expected = connections(&lab);
    let count = expected.len();
    expected.retain(|_, (app, ..)| app == "dns");
    assert!(!expected.is_empty() && expected.len() < count);
    assert_eq!(connections(&recorded), expected);
    assert_eq!(losses["recorded_too_late"], 0);
    assert_eq!(losses["recorded_unsure"], 0);
}

/// A datagram in fragments is recorded with all of them.
#[test]
fn fragments_are_recorded_with_their_datagram() {
    let dir = tempfile::tempdir().unwrap();
    let fragments = capture("dns-fragments.pcap");
    let (recorded, _) = record(dir.path(), &["-r", &fragments, "--record-if", "app:dns"]);
    let mut expected = connections(&fragments);
    expected.retain(|_, (app, ..)| app == "dns");
    assert!(!expected.is_empty());
    assert_eq!(connections(&recorded), expected);
}

/// What had left memory when its connection was to be recorded is counted, and the same is missing
/// in every shape.
#[test]
fn what_is_gone_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let lab = capture("lab-day.pcapng");
    let args = [
        "-r",
        &lab,
        "--record-if",
        "app:http",
        "--record-before",
        "1KiB",
    ];
    let (recorded, losses) = record(dir.path(), &args);
    let mut expected = connections(&lab);
    expected.retain(|_, (app, ..)| app == "http");
    let packets = |found: &BTreeMap<_, (Value, Value, Value)>| -> u64 {
        let all = found.values().flat_map(|(_, up, down)| [up, down]);
        all.map(|count| count.as_u64().unwrap()).sum()
    };
    let gone = losses["recorded_too_late"].as_u64().unwrap();
    assert!(gone > 0);
    assert_eq!(packets(&connections(&recorded)) + gone, packets(&expected));
}

/// Where a rule fits, the connection is recorded; a scan with all that its host begins.
#[test]
fn alerts_and_scans_are_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let rules = dir.path().join("one.rules");
    let rule = "alert http any any -> any any (msg:\"a\"; http.method; content:\"GET\"; sid:1;)\n";
    std::fs::write(&rules, rule).unwrap();
    let lab = capture("lab-day.pcapng");
    let args = ["-r", &lab, "--record-if", "alert", "-S", text(&rules)];
    let (recorded, _) = record(dir.path(), &args);
    let found = connections(&recorded);
    assert!(!found.is_empty());
    assert!(found.values().all(|(app, ..)| app == "http"), "{found:?}");
    let scan = capture("scan.pcap");
    let (recorded, _) = record(dir.path(), &["-r", &scan, "--record-if", "scan"]);
    let told = summary(&["-r", &recorded]);
    assert_eq!(told["scans"]["scan_count"], 1);
}

/// What would record nothing is told.
#[test]
fn conditions_without_effect_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let lab = capture("lab-day.pcapng");
    let path = dir.path().join("x");
    let to = ["-w", text(&path)];
    for (condition, to, more, part) in [
        ("anomaly", &[][..], &[][..], "name that with `-w FILE`"),
        ("alert", &to[..], &[][..], "name them with `-S PATH`"),
        ("dns", &to[..], &[][..], "app:NAME"),
        ("app:nosuch", &to[..], &[][..], "`nosuch`"),
        (
            "scan",
            &to[..],
            &["--write-rotate", "1h"][..],
            "divided by size",
        ),
    ] {
        let run = ["run", "-r", &lab, "--record-if", condition];
        let output = flowpin(&[&run[..], to, more].concat());
        assert_refused(&output, 2, &[part]);
    }
}
