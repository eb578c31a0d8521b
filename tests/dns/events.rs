//! What the command writes about a capture.

use flowpin_testkit::product;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The files of a run with these formats and checksums.
pub(crate) fn files(capture: &Path, format: &str, checksums: &str) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture.to_str().unwrap();
    let output = folder.path().to_str().unwrap();
    let words = ["run", "-q", "--format", format, "--timeouts", "zeek"];
    let paths = ["-k", checksums, "-r", capture, "-l", output];
    let outcome = product::run(&[&words[..], &paths].concat()).unwrap();
    assert!(outcome.analysed(), "{capture}: {}", outcome.stderr);
    let files = product::files(folder.path()).unwrap().into_iter();
    files
        .map(|(name, bytes)| (name, String::from_utf8_lossy(&bytes).into_owned()))
        .collect()
}

/// The events of DNS, mDNS and LLMNR.
pub(crate) fn events(capture: &Path, checksums: &str) -> Vec<Value> {
    let files = files(capture, "eve", checksums);
    let lines = files.get("eve.json").map_or("", String::as_str).lines();
    let all = lines.map(|line| serde_json::from_str(line).unwrap());
    all.filter(|event: &Value| {
        let kind = event["event_type"].as_str();
        matches!(kind, Some("dns" | "mdns" | "llmnr"))
    })
    .collect()
}
