//! Runs the command and reads its EVE records.

use flowpin_testkit::oracle::Conversation;
use flowpin_testkit::product;
use serde_json::Value;
use std::net::IpAddr;
use std::path::Path;

/// The records of a run, and its summary.
pub(crate) struct Records {
    pub(crate) events: Vec<Value>,
    pub(crate) code: i32,
    pub(crate) stderr: String,
}

/// Runs `flowpin run -r PATH --output -` with more options.
pub(crate) fn records(path: &Path, more: &[&str]) -> Records {
    let mut words = vec!["run", "-r", path.to_str().unwrap(), "--output", "-"];
    words.extend(more);
    let outcome = product::run(&words).unwrap();
    let text = String::from_utf8(outcome.stdout).unwrap();
    let events = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    Records {
        events,
        code: outcome.code,
        stderr: outcome.stderr,
    }
}

impl Records {
    /// The connection records.
    pub(crate) fn flows(&self) -> impl Iterator<Item = &Value> {
        self.of("flow")
    }

    /// Records of a type.
    pub(crate) fn of(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.events
            .iter()
            .filter(move |event| event["event_type"] == kind)
    }

    /// TCP, UDP and SCTP connections as other tools count them, sorted.
    pub(crate) fn conversations(&self) -> Vec<Conversation> {
        let mut found: Vec<_> = self.flows().filter_map(conversation).collect();
        found.sort();
        found
    }
}

/// An address of a record.
pub(crate) fn address(event: &Value, field: &str) -> IpAddr {
    event[field].as_str().unwrap().parse().unwrap()
}

/// A number of a record, 0 if it is not there.
pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn conversation(event: &Value) -> Option<Conversation> {
    let protocol = event["proto"].as_str()?.to_lowercase();
    let port = |field: &str| u16::try_from(event[field].as_u64()?).ok();
    let flow = &event["flow"];
    Some(Conversation::new(
        &protocol,
        (address(event, "src_ip"), port("src_port")?),
        (address(event, "dest_ip"), port("dest_port")?),
        (
            number(&flow["pkts_toserver"]),
            number(&flow["bytes_toserver"]),
        ),
        (
            number(&flow["pkts_toclient"]),
            number(&flow["bytes_toclient"]),
        ),
    ))
}
