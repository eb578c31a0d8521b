//! What the `test.yaml` beside Suricata's captures expects, in the form that version 8 has.

use crate::explained::Explained;
use flowpin_testkit::corpus;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with a capture and what is expected of it.
pub(crate) struct Test {
    /// Its path below the folder of all tests.
    pub(crate) name: String,
    pub(crate) capture: PathBuf,
    /// Which checksums are looked at: `-k`.
    pub(crate) checksums: &'static str,
    pub(crate) text: String,
}

/// One filter of a `test.yaml`: how many events match.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    pub(crate) count: usize,
    /// Paths and values, in the file's order.
    pub(crate) wanted: Vec<(String, String)>,
    /// Of an older version.
    pub(crate) old: bool,
}

/// Holds what the command tells of the captures in these folders to what is expected there: every
/// filter that `filters` takes of a test holds, or a row of `table` says why not. There are more than
/// `least` of them.
pub(crate) fn hold(
    folders: &[&str],
    (table, least): (&str, usize),
    filters: impl Fn(&Test) -> Vec<Filter>,
    events: impl Fn(&Test) -> Vec<Value>,
) {
    let Some(shared) = corpus::shared_dir("events against Suricata's expectations") else {
        return;
    };
    let mut explained = Explained::parse(table);
    let (mut open, mut compared, mut held, mut all) = (Vec::new(), Vec::new(), 0, 0);
    for test in tests(&shared.join("corpus/suricata-verify/tests"), folders) {
        let filters = filters(&test);
        if filters.is_empty() {
            continue;
        }
        let events = events(&test);
        for (nth, filter) in filters.iter().enumerate() {
            all += 1;
            let count = events.iter().filter(|event| filter.matches(event)).count();
            if count == filter.count {
                held += 1;
            } else if !explained.covers(&test.name, &format!("filter {nth}")) {
                let name = &test.name;
                open.push(format!("{name}\tfilter {nth}\t{count} here: {filter:?}"));
            }
        }
        compared.push(test.name);
    }
    open.extend(explained.stale(&compared));
    println!("{held} of {all} filters hold, in {} tests", compared.len());
    assert!(held > least, "{held} filters");
    let count = open.len();
    assert!(
        open.is_empty(),
        "{count} not explained:\n{}",
        open.join("\n")
    );
}

/// Those in these folders below `all` that have a capture, in order.
fn tests(all: &Path, folders: &[&str]) -> Vec<Test> {
    let inside = |one: &&str| fs::read_dir(all.join(one)).into_iter().flatten().flatten();
    let entries = folders.iter().flat_map(inside).map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = entries.collect();
    folders.sort();
    let test = |folder: &PathBuf| {
        let name = folder.strip_prefix(all).unwrap_or(folder).to_string_lossy();
        let text = fs::read_to_string(folder.join("test.yaml")).ok()?;
        let ignores = text.contains("-k none");
        Some(Test {
            name: name.trim_start_matches("./").to_owned(),
            capture: capture(folder, &text)?,
            checksums: if ignores { "none" } else { "all" },
            text,
        })
    };
    folders.iter().filter_map(test).collect()
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

impl Test {
    /// Its filters, line by line: it is YAML of one form.
    pub(crate) fn filters(&self) -> Vec<Filter> {
        let mut found: Vec<Filter> = Vec::new();
        for line in self.text.lines() {
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
}

impl Filter {
    /// Whether an event has all that it wants.
    pub(crate) fn matches(&self, event: &Value) -> bool {
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

/// What stands at `a.b[0].c` of an event; `__len` is the length of a list or a text.
fn at(event: &Value, path: &str) -> Option<Value> {
    let mut here = event.clone();
    for step in path.split('.') {
        if step == "__len" {
            let len = here.as_array().map(Vec::len);
            here = Value::from(len.or_else(|| here.as_str().map(str::len))?);
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
