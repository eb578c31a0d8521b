//! Connection records against the `conn.log` that Zeek's own test suite expects.
//!
//! A field that differs needs a row in `tests/explained/zeek.tsv`: folder of expected results,
//! field, and who is right. What identifies differently by design (`uid`, `service` until
//! protocols are identified, `tunnel_parents`, which holds Zeek's uids) is not compared.

use crate::explained::Explained;
use flowpin_testkit::oracle::zeek::Log;
use flowpin_testkit::{corpus, product};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

type Row = HashMap<String, String>;

const COMPARED: &[&str] = &[
    "proto",
    "duration",
    "orig_bytes",
    "resp_bytes",
    "conn_state",
    "missed_bytes",
    "history",
    "orig_pkts",
    "orig_ip_bytes",
    "resp_pkts",
    "resp_ip_bytes",
    "ip_proto",
    "vlan",
    "inner_vlan",
];
const TUPLE: &[&str] = &["id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p"];

/// One expected log and what it was made from.
struct Case {
    folder: String,
    log: PathBuf,
    trace: PathBuf,
    checksums: &'static str,
}

/// The cases of the index whose one trace is there.
fn cases() -> Vec<Case> {
    let Some(shared) = corpus::shared_dir("records against Zeek's expected conn.log") else {
        return Vec::new();
    };
    let btest = shared.join("corpus/zeek/testing/btest");
    let index = fs::read_to_string(btest.join("INDEX.tsv")).unwrap_or_default();
    let mut found = Vec::new();
    for line in index.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<_> = line.split('\t').collect();
        let [folder, traces, _, logs, how] = columns[..] else {
            continue;
        };
        let log = ["conn.log", "conn.log.cut"]
            .into_iter()
            .find(|name| logs.split(',').any(|log| log == *name));
        let (Some(log), false) = (log, traces.contains(',')) else {
            continue;
        };
        // `-C`, also inside a bundle of short options: checksums are not verified.
        let ignores = how
            .split_whitespace()
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('C'));
        found.push(Case {
            folder: folder.to_owned(),
            log: btest.join("Baseline").join(folder).join(log),
            trace: btest.join("Traces").join(traces),
            checksums: if ignores { "none" } else { "all" },
        });
    }
    found
}

/// The share of equal fields is printed; what differs is explained.
#[test]
fn fields_are_those_that_zeek_expects() {
    let mut explained = Explained::parse(include_str!("../explained/zeek.tsv"));
    let (mut open, mut compared) = (Vec::new(), Vec::new());
    let mut score = Score::default();
    for case in cases() {
        let (Ok(text), true) = (fs::read_to_string(&case.log), case.trace.is_file()) else {
            continue;
        };
        let expected = Log::parse(&text);
        let ours = conn_log(&case.trace, case.checksums);
        for (field, example) in compare(&expected, &ours, &mut score) {
            if !explained.covers(&case.folder, &field) {
                open.push(format!("{}\t{field}\t{example}", case.folder));
            }
        }
        compared.push(case.folder);
    }
    open.extend(explained.stale(&compared));
    println!("{score:?} over {} expected logs", compared.len());
    assert!(
        open.is_empty(),
        "{} not explained:\n{}",
        open.len(),
        open.join("\n")
    );
}

#[derive(Debug, Default)]
struct Score {
    rows: usize,
    rows_found: usize,
    fields: usize,
    fields_equal: usize,
}

fn conn_log(trace: &Path, checksums: &str) -> Log {
    let folder = tempfile::tempdir().unwrap();
    let words = [
        "run",
        "--format",
        "zeek",
        "--timeouts",
        "zeek",
        "-k",
        checksums,
    ];
    let paths = [
        "-r",
        trace.to_str().unwrap(),
        "-l",
        folder.path().to_str().unwrap(),
    ];
    let outcome = product::run(&[&words[..], &paths].concat()).unwrap();
    assert!(
        outcome.analysed(),
        "{}: {}",
        trace.display(),
        outcome.stderr
    );
    // Without a connection there may be no file.
    let text = fs::read_to_string(folder.path().join("conn.log")).unwrap_or_default();
    Log::parse(&text)
}

/// Fields that differ, with an example each; `missing` and `extra` for whole rows.
fn compare(expected: &Log, ours: &Log, score: &mut Score) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut left: Vec<&Row> = ours.rows.iter().collect();
    let has_tuple = expected.fields.iter().any(|field| field == "id.orig_h");
    for row in &expected.rows {
        score.rows += 1;
        let Some(nth) = best(row, &left, has_tuple) else {
            found
                .entry("missing".to_owned())
                .or_insert(format!("{row:?}"));
            continue;
        };
        score.rows_found += 1;
        let mine = left.swap_remove(nth);
        for &field in COMPARED {
            if !expected.fields.iter().any(|name| name == field) {
                continue;
            }
            score.fields += 1;
            let (theirs, mine) = (row.get(field), mine.get(field));
            if same(field, theirs, mine) {
                score.fields_equal += 1;
            } else {
                let example = format!("{mine:?} here, {theirs:?} there: {}", name(row));
                found.entry(field.to_owned()).or_insert(example);
            }
        }
        if has_tuple && !same_tuple(row, mine) {
            found.entry("direction".to_owned()).or_insert(name(row));
        }
    }
    if let Some(row) = left.first() {
        found
            .entry("extra".to_owned())
            .or_insert(format!("{}: {row:?}", left.len()));
    }
    found
}

/// The row that matches best: same tuple (either way round), then the nearest start, then the
/// most equal fields.
fn best(row: &Row, left: &[&Row], has_tuple: bool) -> Option<usize> {
    let candidates = left.iter().enumerate().filter(|(_, mine)| {
        !has_tuple || same_tuple(row, mine) || same_tuple(&reversed(row), mine)
    });
    let start = |row: &Row| {
        row.get("ts")
            .and_then(|ts| ts.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    let rank = |mine: &Row| {
        let differing = COMPARED
            .iter()
            .filter(|&&field| row.contains_key(field) && row.get(field) != mine.get(field));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "milliseconds, only to rank"
        )]
        let apart_ms = if row.contains_key("ts") {
            ((start(row) - start(mine)).abs() * 1000.0) as u64
        } else {
            0
        };
        (apart_ms, differing.count())
    };
    candidates
        .min_by_key(|(_, mine)| rank(mine))
        .map(|(nth, _)| nth)
}

fn same_tuple(a: &Row, b: &Row) -> bool {
    let proto = a
        .get("proto")
        .is_none_or(|proto| b.get("proto") == Some(proto));
    proto && TUPLE.iter().all(|&field| a.get(field) == b.get(field))
}

fn reversed(row: &Row) -> Row {
    let mut turned = row.clone();
    for (a, b) in [("id.orig_h", "id.resp_h"), ("id.orig_p", "id.resp_p")] {
        if let (Some(x), Some(y)) = (row.get(a), row.get(b)) {
            turned.insert(a.to_owned(), y.clone());
            turned.insert(b.to_owned(), x.clone());
        }
    }
    turned
}

fn name(row: &Row) -> String {
    let parts = TUPLE.iter().filter_map(|&field| row.get(field));
    parts.cloned().collect::<Vec<_>>().join(" ")
}

/// Times agree within a microsecond and a half: Zeek rounds, packets carry nanoseconds.
fn same(field: &str, a: Option<&String>, b: Option<&String>) -> bool {
    if field != "duration" {
        return a == b;
    }
    match (a.map(|a| a.parse::<f64>()), b.map(|b| b.parse::<f64>())) {
        (Some(Ok(a)), Some(Ok(b))) => (a - b).abs() < 1.5e-6,
        (None, None) => true,
        _ => false,
    }
}
