//! The events that the command writes about a capture.

use crate::written::files;
use serde_json::Value;
use std::path::Path;

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
