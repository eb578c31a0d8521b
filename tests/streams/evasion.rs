//! Captures made to evade reassembly, or to test it: what others expect, beside what we make of
//! them.

use crate::outcome::ours;
use flowpin_testkit::{corpus, product};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Each capture of the category is in the table, with what others expect and an explanation, and
/// comes out as the table says: streams, their bytes, and the anomalies of streams.
#[test]
fn captures_about_reassembly_come_out_as_explained() {
    let all = corpus::captures(&["D tcp-evasion-reassembly"], "captures about reassembly");
    if all.is_empty() {
        return;
    }
    let table = corpus::workspace().join("tests/explained/reassembly.tsv");
    let table = fs::read_to_string(table).unwrap();
    let rows: BTreeMap<&str, Vec<&str>> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('\t').unwrap())
        .map(|(name, rest)| (name, rest.split('\t').collect()))
        .collect();
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for capture in &all {
        seen.insert(capture.name.as_str());
        let outcome = outcome(&capture.path);
        match rows.get(capture.name.as_str()).map(Vec::as_slice) {
            Some([expected, ours, why]) => {
                assert!(!expected.is_empty() && !why.is_empty(), "{}", capture.name);
                if *ours != outcome {
                    wrong.push(format!("{}: {outcome}", capture.name));
                }
            }
            _ => wrong.push(format!("{}: not in the table", capture.name)),
        }
    }
    let stale = rows.keys().filter(|name| !seen.contains(*name));
    wrong.extend(stale.map(|name| format!("{name}: in the table, not in the corpus")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `streams=2 bytes=340`, and anomalies with their counts.
fn outcome(path: &Path) -> String {
    let streams = ours(path, &["--gaps", "skip"]);
    let all: Vec<_> = streams.into_values().flatten().collect();
    let bytes: usize = all.iter().map(Vec::len).sum();
    let mut text = format!("streams={} bytes={bytes}", all.len());
    let path = path.to_str().unwrap();
    let words = [
        "run",
        "-r",
        path,
        "--output",
        "-",
        "-k",
        "none",
        "--timeouts",
        "none",
    ];
    let records = product::run(&words).unwrap().stdout;
    let mut odd = BTreeMap::new();
    for line in String::from_utf8(records).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let event = record["flowpin"]["name"].as_str().unwrap_or_default();
        if let Some((_, reason)) = event.split_once("stream.") {
            *odd.entry(reason.to_owned()).or_insert(0) += 1;
        }
    }
    for (reason, count) in odd {
        text.push_str(&format!(" {reason}={count}"));
    }
    text
}

/// What Suricata's tests of payloads say is in the stream, byte for byte. Bytes that came in
/// order are the receiver's at once: no policy lets later ones replace them.
#[test]
fn payloads_are_those_that_suricata_expects() {
    let Some(shared) = corpus::shared_dir("payloads that Suricata expects") else {
        return;
    };
    let tests = shared.join("corpus/suricata-verify/tests");
    for (test, capture, expected) in [
        ("eve-payload-01-tcp-exact-overlap", "tcp-overlap", "GOOD"),
        ("eve-payload-04-partial-overlap", "tcp-overlap2", "GOOD"),
        (
            "eve-payload-05-tcp-data-gap",
            "tcp-simple-gap2",
            "VERY[4]DATA",
        ),
        (
            "eve-payload-06-tcp-data-leading-gap",
            "tcp-leading-gap",
            "[4]GOODDATA",
        ),
        (
            "tcp-rst-unacked-stream-01-raw",
            "input",
            "Please Let Me In!",
        ),
    ] {
        let path = tests.join(test).join(capture).with_extension("pcap");
        let streams = ours(&path, &["--gaps", "note"]);
        let found: Vec<_> = streams.into_values().flatten().collect();
        let note = " bytes missing in capture file]";
        let found: Vec<_> = found
            .iter()
            .map(|bytes| String::from_utf8_lossy(bytes).replace(note, "]"))
            .collect();
        assert_eq!(found, [expected], "{test}");
    }
}
