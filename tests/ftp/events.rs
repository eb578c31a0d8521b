//! The events that the command writes about a capture.

use crate::written::files;
use serde_json::Value;
use std::path::Path;

/// All events.
pub(crate) fn events(capture: &Path, checksums: &str) -> Vec<Value> {
    let files = files(capture, "eve", checksums);
    let lines = files.get("eve.json").map_or("", String::as_str).lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Those of one type.
pub(crate) fn of_type<'e>(events: &'e [Value], kind: &str) -> Vec<&'e Value> {
    let is_of = |event: &&Value| event["event_type"] == kind;
    events.iter().filter(is_of).collect()
}

/// Source and destination of an event, as `address port address port`.
pub(crate) fn ends(event: &Value) -> String {
    let ends = ["src_ip", "src_port", "dest_ip", "dest_port"].map(|key| match &event[key] {
        Value::String(address) => plain(address),
        number => number.to_string(),
    });
    ends.join(" ")
}

/// An address as Rust prints it.
pub(crate) fn plain(address: &str) -> String {
    address.parse::<std::net::IpAddr>().unwrap().to_string()
}
