//! Events against the expectations beside Suricata's captures.
//!
//! Of each `test.yaml` the filters that count events of DNS are taken, in the form that version 8
//! has; those that count alerts or need rules are about something else.

use crate::events::events;
use crate::explained::Explained;
use flowpin_testkit::corpus;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// One filter of a `test.yaml`: how many events match.
#[derive(Debug, Default)]
struct Filter {
    count: usize,
    /// Paths and values, in the file's order.
    wanted: Vec<(String, String)>,
    old: bool,
}

/// Every filter holds, or a row says why not.
#[test]
fn events_are_those_that_suricata_expects() {
    let Some(shared) = corpus::shared_dir("DNS against Suricata's expectations") else {
        return;
    };
    let tests = shared.join("corpus/suricata-verify/tests");
    let mut explained = Explained::parse(include_str!("../explained/dns.tsv"));
    let (mut open, mut compared, mut held, mut all) = (Vec::new(), Vec::new(), 0, 0);
    let mut folders: Vec<PathBuf> = ["dns", "llmnr", "."]
        .iter()
        .flat_map(|one| {
            fs::read_dir(tests.join(one))
                .into_iter()
                .flatten()
                .flatten()
        })
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    for folder in folders {
        let name = folder.strip_prefix(&tests).unwrap_or(&folder);
        let name = name.to_string_lossy().trim_start_matches("./").to_owned();
        let Ok(text) = fs::read_to_string(folder.join("test.yaml")) else {
            continue;
        };
        let filters: Vec<Filter> = filters(&text).into_iter().filter(Filter::is_ours).collect();
        let capture = capture(&folder, &text);
        // Settings that choose which messages are told: ours tells all.
        let chosen = name.contains("-only") || text.contains("EVE_DNS_VERSION: 2");
        let (false, false, Some(capture)) = (filters.is_empty(), chosen, capture) else {
            continue;
        };
        let checksums = if text.contains("-k none") {
            "none"
        } else {
            "all"
        };
        let events = events(&capture, checksums);
        for (nth, filter) in filters.iter().enumerate() {
            all += 1;
            let count = events.iter().filter(|event| filter.matches(event)).count();
            if count == filter.count {
                held += 1;
            } else if !explained.covers(&name, &format!("filter {nth}")) {
                open.push(format!("{name}\tfilter {nth}\t{count} here: {filter:?}"));
            }
        }
        compared.push(name);
    }
    open.extend(explained.stale(&compared));
    println!("{held} of {all} filters hold, in {} tests", compared.len());
    assert!(held > 30, "{held} filters");
    assert!(
        open.is_empty(),
        "{} not explained:\n{}",
        open.len(),
        open.join("\n")
    );
}

/// The capture that a test names, or the one beside it.
fn capture(folder: &Path, text: &str) -> Option<PathBuf> {
    if let Some(named) = text.lines().find_map(|line| line.strip_prefix("pcap:")) {
        let path = folder.join(named.trim().trim_matches(['"', '\'']));
        return path.is_file().then_some(path);
    }
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|one| one.path())
        .collect();
    found.sort();
    found.into_iter().find(|path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        matches!(ending, Some("pcap" | "pcapng"))
    })
}

/// The filters of a `test.yaml`, line by line: it is YAML of one form.
fn filters(text: &str) -> Vec<Filter> {
    let mut found: Vec<Filter> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if line == "- filter:" {
            found.push(Filter::default());
        }
        let Some(filter) = found.last_mut() else {
            continue;
        };
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim().trim_matches(['"', '\'']);
        match key {
            "count" => filter.count = value.parse().unwrap_or(0),
            "lt-version" => filter.old |= value.split('.').next() <= Some("8"),
            _ if value.is_empty() || key.ends_with("version") && !key.contains('.') => {}
            _ => filter.wanted.push((key.to_owned(), value.to_owned())),
        }
    }
    found
}

impl Filter {
    /// Whether it is about DNS events, and nothing else.
    fn is_ours(&self) -> bool {
        let about = |word: &str| {
            self.wanted.iter().any(|(key, value)| {
                (key == "event_type" && value == word) || key.starts_with(&format!("{word}."))
            })
        };
        let kind = self.wanted.iter().find(|(key, _)| key == "event_type");
        let other =
            kind.is_some_and(|(_, kind)| !matches!(kind.as_str(), "dns" | "mdns" | "llmnr"));
        let alert = self.wanted.iter().any(|(key, _)| {
            ["alert", "direction", "stats", "ether", "has-key"]
                .iter()
                .any(|word| key.starts_with(word))
        });
        !self.old && !other && !alert && (about("dns") || about("mdns") || about("llmnr"))
    }

    fn matches(&self, event: &Value) -> bool {
        self.wanted.iter().all(|(path, wanted)| {
            let found = at(event, path);
            found.is_some_and(|found| match found {
                Value::String(text) => text == *wanted || unescaped(wanted) == text,
                other => {
                    let other = other.to_string();
                    other == *wanted
                }
            })
        })
    }
}

/// The escapes of YAML's strings that occur.
fn unescaped(text: &str) -> String {
    let text = text.replace("\\u0003", "\u{3}").replace("\\u0001", "\u{1}");
    text.replace("\\\\", "\\")
}

/// What stands at `a.b[0].c` of an event; `__len` is a list's length.
fn at(event: &Value, path: &str) -> Option<Value> {
    let mut here = event.clone();
    for step in path.split('.') {
        if step == "__len" {
            here = Value::from(here.as_array()?.len());
            continue;
        }
        let (name, index) = step.split_once('[').unwrap_or((step, ""));
        here = here.get(name)?.clone();
        if let Some(index) = index.strip_suffix(']') {
            here = here.get(index.parse::<usize>().ok()?)?.clone();
        }
    }
    Some(here)
}
