//! Captures with fragments: what others expect, beside what we make of them.

use crate::records::{Records, records};
use flowpin_testkit::corpus;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Where captures about fragments are, besides the category.
const OTHERS: [&str; 5] = [
    "suricata-verify/tests/ipv6-evasion/",
    "suricata-verify/tests/defrag/",
    "suricata-verify/tests/exception-policy-defrag-01/",
    "zeek/testing/btest/Traces/ipv4/fragmented-",
    "zeek/testing/btest/Traces/tunnels/gtp/gtp1_gn_normal_incl_fragmentation",
];

/// Each capture of the category, and of Suricata's and Zeek's tests about fragments, is in the table
/// with what others expect and an explanation, and comes out as the table says.
#[test]
fn captures_with_fragments_come_out_as_explained() {
    let all = corpus::captures(&[], "captures with fragments");
    if all.is_empty() {
        return;
    }
    let table = fs::read_to_string(corpus::workspace().join("tests/explained/fragments.tsv"));
    let table = table.unwrap();
    let rows: BTreeMap<&str, Vec<&str>> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('\t').unwrap())
        .map(|(name, rest)| (name, rest.split('\t').collect()))
        .collect();
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for capture in &all {
        let is_meant = capture.category == "D ip-frag"
            || OTHERS.iter().any(|start| capture.name.starts_with(start));
        if !is_meant || !seen.insert(capture.name.as_str()) {
            continue;
        }
        let found = records(&capture.path, &["--format", "eve"]);
        let (odd, count) = (oddities(&found), found.flows().count().to_string());
        match rows.get(capture.name.as_str()).map(Vec::as_slice) {
            Some([expected, ours, connections, why]) => {
                assert!(!expected.is_empty() && !why.is_empty(), "{}", capture.name);
                if *ours != odd || *connections != count {
                    wrong.push(format!("{}: {odd}, {count} connections", capture.name));
                }
            }
            _ => wrong.push(format!("{}: not in the table", capture.name)),
        }
    }
    let stale = rows.keys().filter(|name| !seen.contains(*name));
    wrong.extend(stale.map(|name| format!("{name}: in the table, not in the corpus")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The anomalies of the fragment layer, each with its count.
fn oddities(found: &Records) -> String {
    let mut counts = BTreeMap::new();
    for record in found.of("anomaly") {
        let event = record["flowpin"]["name"].as_str().unwrap_or_default();
        if let Some(reason) = event.strip_prefix("fragment.") {
            *counts.entry(reason).or_insert(0) += 1;
        }
    }
    let words: Vec<_> = counts
        .iter()
        .map(|(reason, count)| format!("{reason}={count}"))
        .collect();
    if words.is_empty() {
        return "-".to_owned();
    }
    words.join(" ")
}
