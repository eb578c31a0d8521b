//! Which protocols the bundled captures speak, as their recordings say.

use crate::program::{app, capture, code, flowpin, stderr, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The EVE records of a capture.
fn events(path: &str, more: &[&str]) -> Vec<Value> {
    let args = ["run", "-q", "-r", path, "--output", "-"];
    let output = flowpin(&[&args, more].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let lines = output.stdout.split(|&byte| byte == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .collect()
}

/// Those of connections.
fn flows(path: &str, more: &[&str]) -> Vec<Value> {
    let mut events = events(path, more);
    events.retain(|event| event["event_type"] == "flow");
    events
}

/// Client, client's port, server, server's port.
type Ends = [String; 4];

/// The connections in the truth beside a capture whose service has rules of its own.
fn truth(path: &Path) -> BTreeMap<Ends, String> {
    let file = std::fs::read(path.with_file_name(format!(
        "{}.json",
        path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap()
    )));
    let truth: Value = serde_json::from_slice(&file.unwrap()).unwrap();
    let mut services = BTreeMap::new();
    for one in truth["connections"].as_array().unwrap() {
        let service = one["service"].as_str().unwrap_or_default();
        if !service.is_empty() {
            let ends = ["client", "client_port", "server", "server_port"];
            services.insert(ends.map(|key| word(&one[key])), service.to_owned());
        }
    }
    services
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), plain)
}

/// An address as Rust prints it.
fn plain(text: &str) -> String {
    text.parse::<std::net::IpAddr>()
        .map_or_else(|_| text.to_owned(), |address| address.to_string())
}

/// What the recorded programs spoke is what the records say, wherever anything was said.
#[test]
fn bundled_captures_speak_what_their_truth_says() {
    let mut known = 0;
    for entry in std::fs::read_dir(capture("")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.contains(".pcap") {
            continue;
        }
        let truth = truth(&path);
        for flow in flows(text(&path), &[]) {
            let ends = ["src_ip", "src_port", "dest_ip", "dest_port"].map(|key| word(&flow[key]));
            let said = &flow["flowpin"];
            let bytes = said["payload_toserver"].as_u64().unwrap()
                + said["payload_toclient"].as_u64().unwrap();
            // The middle of a download could be of anything.
            let begun = bytes > 0 && said["midstream"].is_null();
            if let Some(service) = truth.get(&ends).filter(|_| begun) {
                assert_eq!(*app(&flow), service.as_str(), "{name}: {flow:#}");
                known += 1;
            }
        }
    }
    assert!(known > 100, "{known} connections");
}

/// `--identify off` looks at nothing and says nothing.
#[test]
fn nothing_is_identified_if_it_is_not_wanted() {
    let http = capture("http.pcapng");
    assert!(
        flows(&http, &[])
            .iter()
            .any(|flow| flow["app_proto"] == "http")
    );
    let silent = flows(&http, &["--identify", "off"]);
    assert!(silent.iter().all(|flow| flow["app_proto"].is_null()));
    let output = flowpin(&[
        "run",
        "-r",
        &http,
        "--format",
        "none",
        "--json",
        "--identify",
        "off",
    ]);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["connections"]["by_protocol"], serde_json::json!([]));
    assert_eq!(summary["identification"]["packets"], 0);
}

/// The summary's table has the protocols; every connection that was looked at is in it.
#[test]
fn the_summary_sums_up_protocols() {
    let lab = capture("lab-day.pcapng");
    let output = flowpin(&["run", "-r", &lab, "--format", "none", "--json"]);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let connections = &summary["connections"];
    let rows = connections["by_protocol"].as_array().unwrap();
    let sum: u64 = rows
        .iter()
        .map(|row| row["connections"].as_u64().unwrap())
        .sum();
    let unknown = connections["not_identified"]["connections"]
        .as_u64()
        .unwrap();
    assert_eq!(summary["identification"]["connections"], sum + unknown);
    assert!(rows.iter().any(|row| row["name"] == "dns"));
}

/// Only the folder that is named gets the compiled rules; a second run finds them there.
#[test]
fn compiled_rules_are_kept_where_the_settings_say() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("flowpin.toml");
    let http = capture("http.pcapng");
    let cache = dir.path().join("cache");
    let (quoted, more) = (text(&cache).to_owned(), ["-c", text(&config)]);
    std::fs::write(&config, format!("[identify]\ncache = '{quoted}'\n")).unwrap();
    let first = flows(&http, &more);
    let file = cache.join("protocols");
    let kept = std::fs::read(&file).unwrap();
    assert_eq!(flows(&http, &more), first);
    std::fs::write(&file, &kept[..100]).unwrap();
    assert_eq!(flows(&http, &more), first);
    assert!(
        std::fs::read(&file).unwrap() == kept,
        "a damaged set is made anew"
    );
    std::fs::write(&file, b"somebody's").unwrap();
    assert_eq!(flows(&http, &more), first);
    assert_eq!(std::fs::read(&file).unwrap(), b"somebody's");
}

/// `--parse` with names reads the messages of these protocols alone, and says all else as before.
#[test]
fn only_the_messages_asked_for_are_told() {
    let lab = capture("lab-day.pcapng");
    let all = events(&lab, &[]);
    let kinds = |events: &[Value]| -> BTreeSet<String> {
        let kind = |event: &Value| event["event_type"].as_str().unwrap().to_owned();
        events.iter().map(kind).collect()
    };
    assert!(kinds(&all).is_superset(&["dns", "http", "smtp", "tls"].map(str::to_owned).into()));
    let others = [
        "dns", "fix", "ftp", "ftp_data", "http", "mdns", "quic", "redis", "sip", "smtp", "ssh",
        "tls",
    ];
    for wanted in ["dns", "http,smtp", "tls,redis"] {
        let told = events(&lab, &["--parse", wanted]);
        let is_wanted = |event: &&Value| {
            let kind = event["event_type"].as_str().unwrap();
            wanted.split(',').any(|one| one == kind) || !others.contains(&kind)
        };
        // An anomaly may be of a message that nobody reads now.
        let count = |events: &[Value]| {
            let told = events.iter().filter(is_wanted);
            told.filter(|event| event["event_type"] != "anomaly")
                .count()
        };
        assert_eq!(count(&told), count(&all), "{wanted}");
        assert_eq!(
            told.iter().filter(|event| !is_wanted(event)).count(),
            0,
            "{wanted}"
        );
        assert_eq!(
            told,
            events(&lab, &["--parse", wanted, "--pipeline", "2x3"])
        );
    }
}

/// A protocol without a parser, and no protocol at all, are mistakes that are named.
#[test]
fn protocols_without_a_parser_are_refused() {
    let lab = capture("lab-day.pcapng");
    for (asked, why) in [
        (
            "http,finger",
            "there is no parser for `finger`; there are parsers for dns, dtls,",
        ),
        ("http,,dns", "needs on, off, or protocols"),
    ] {
        let output = flowpin(&["run", "-r", &lab, "--format", "none", "--parse", asked]);
        assert_eq!(code(&output), 2, "{asked}");
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}
