//! Records against what Suricata's own tests expect of its `http` events (`test.yaml`).
//!
//! Only checks of HTTP/1 are compared, and of these only what an event of that kind says: not what
//! a rule or a policy made of it. What differs needs a row in `tests/explained/http-suricata.tsv`.

use crate::explained::Explained;
use flowpin_testkit::{corpus, product};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// One `filter` of a test: how many events there must be with these values.
#[derive(Debug, Default)]
struct Check {
    count: usize,
    fields: BTreeMap<String, String>,
}

/// Every check holds, or a row of the table says why not.
#[test]
fn events_are_those_that_suricata_expects() {
    let Some(shared) = corpus::shared_dir("records against Suricata's expected events") else {
        return;
    };
    let tests = shared.join("corpus/suricata-verify/tests");
    let mut explained = Explained::parse(include_str!("../explained/http-suricata.tsv"));
    let (mut open, mut compared, mut count) = (Vec::new(), Vec::new(), 0);
    for yaml in descriptions(&tests) {
        let folder = yaml.parent().unwrap();
        let name = folder
            .strip_prefix(&tests)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&yaml).unwrap_or_default();
        let checks = checks(&text);
        let Some(capture) = only_capture(folder) else {
            continue;
        };
        if checks.is_empty() || text.contains("\npcap:") {
            continue;
        }
        let events = events(&capture, text.contains("-k none"));
        for check in &checks {
            count += 1;
            let found = events.iter().filter(|event| matches(event, check)).count();
            if found != check.count && !explained.covers(&name, "http") {
                open.push(format!("{name}\thttp\t{found} here: {check:?}"));
            }
        }
        compared.push(name);
    }
    open.extend(explained.stale(&compared));
    println!("{count} checks of {} tests", compared.len());
    assert!(open.is_empty(), "not explained:\n{}", open.join("\n"));
}

fn descriptions(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().flatten().collect();
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            found.extend(descriptions(&path));
        } else if path.ends_with("test.yaml") {
            found.push(path);
        }
    }
    found
}

fn only_capture(folder: &Path) -> Option<PathBuf> {
    let mut found = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path());
    let is_capture = |path: &PathBuf| {
        path.extension()
            .is_some_and(|ending| ending == "pcap" || ending == "pcapng")
    };
    let first = found.find(is_capture)?;
    found.all(|path| !is_capture(&path)).then_some(first)
}

/// The filters whose event is `http`: of YAML no more than such files use.
fn checks(text: &str) -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    let mut in_match = false;
    let mut match_indent = 0;
    let mut last = String::new();
    // The mapping inside the match, and how far it is indented.
    let mut inside: Option<(String, usize)> = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let word = line.trim().trim_start_matches("- ");
        if word == "filter:" {
            checks.push(Check {
                count: 1,
                ..Check::default()
            });
            in_match = false;
        }
        in_match &= indent > match_indent || word.is_empty();
        let Some(check) = checks.last_mut() else {
            continue;
        };
        let pair = word
            .split_once(": ")
            .or_else(|| Some((word.strip_suffix(':')?, "")));
        let Some((key, value)) = pair else {
            // A value that goes on.
            if let (true, Some(value)) = (in_match && !word.is_empty(), check.fields.get_mut(&last))
            {
                value.push(' ');
                value.push_str(word.trim_matches(['"', '\'']));
            }
            continue;
        };
        let value = value.trim().trim_matches(['"', '\'']).to_owned();
        if in_match {
            if inside.as_ref().is_some_and(|(_, outer)| indent <= *outer) {
                inside = None;
            }
            if value.is_empty() {
                inside = Some((key.to_owned(), indent));
                continue;
            }
            last = match &inside {
                Some((outer, _)) => format!("{outer}.{key}"),
                None => key.to_owned(),
            };
            check.fields.insert(last.clone(), value);
        } else if word == "match:" {
            (in_match, match_indent, inside) = (true, indent, None);
        } else if key == "count" {
            check.count = value.parse().unwrap_or(1);
        }
    }
    checks.retain(|check| {
        let is_http = check
            .fields
            .get("event_type")
            .is_some_and(|event| event == "http");
        // HTTP/2 has other parsers; these keys are not about HTTP.
        let mut fields = check.fields.iter();
        is_http
            && !fields.any(|(key, value)| {
                key.starts_with("http.http2") || (key == "http.version" && value == "2")
            })
    });
    checks
}

fn events(capture: &Path, ignores_checksums: bool) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("settings.toml");
    fs::write(&settings, "[parse]\nall_fields = true\n").unwrap();
    let paths = [capture, folder.path(), &settings].map(|path| path.to_str().unwrap());
    let [capture, logs, settings] = paths;
    let checksums = if ignores_checksums { "none" } else { "all" };
    let words = [
        "run", "-r", capture, "-l", logs, "-c", settings, "-k", checksums,
    ];
    let outcome = product::run(&words).unwrap();
    assert!(outcome.analysed(), "{capture}: {}", outcome.stderr);
    let lines = fs::read_to_string(folder.path().join("eve.json")).unwrap_or_default();
    let events = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    events
        .filter(|event| event["event_type"] == "http")
        .collect()
}

fn matches(event: &Value, check: &Check) -> bool {
    // Which packet an event is told with differs by design.
    let mut fields = check
        .fields
        .iter()
        .filter(|(key, _)| *key != "pcap_cnt" && *key != "pkt_src");
    fields.all(|(key, expected)| {
        let found = value(event, key);
        match found {
            Some(Value::String(text)) => text == *expected || shortened(&text) == *expected,
            Some(other) => serde_json::from_str::<Value>(expected).is_ok_and(|one| one == other),
            None => false,
        }
    })
}

/// An IPv6 address as newer versions write it.
fn shortened(text: &str) -> String {
    let address = text.parse::<std::net::IpAddr>();
    address.map_or_else(|_| text.to_owned(), |address| address.to_string())
}

/// The value at `http.request_headers[2].name`; `__len` is a list's length.
fn value(event: &Value, path: &str) -> Option<Value> {
    let mut at = event.clone();
    for part in path.split('.') {
        if part == "__len" {
            return Some(at.as_array()?.len().into());
        }
        let (name, index) = match part.split_once('[') {
            Some((name, index)) => (
                name,
                Some(index.trim_end_matches(']').parse::<usize>().ok()?),
            ),
            None => (part, None),
        };
        at = at.get(name)?.clone();
        if let Some(index) = index {
            at = at.get(index)?.clone();
        }
    }
    Some(at)
}
