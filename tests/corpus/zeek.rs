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
    "community_id",
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
        let expected = expected(&text);
        let ours = logs(&case.trace, case.checksums);
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
    outer: usize,
    rows: usize,
    rows_found: usize,
    fields: usize,
    fields_equal: usize,
}

/// An expected log. Two were written without the names of their fields.
fn expected(text: &str) -> Log {
    let is_named = text.contains("uid") || text.contains("\tvlan") || text.contains("\thistory");
    if is_named {
        return Log::parse(text);
    }
    let names = "id.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tservice\tcommunity_id";
    Log::parse(&format!("{names}\n{text}"))
}

/// Our own logs: connections, and the outer addresses of tunnels.
struct Ours {
    conn: Log,
    tunnel: Log,
}

fn logs(trace: &Path, checksums: &str) -> Ours {
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
    // Without a record there may be no file.
    let read = |name| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    Ours {
        conn: Log::parse(&read("conn.log")),
        tunnel: Log::parse(&read("tunnel.log")),
    }
}

/// Fields that differ, with an example each; `missing` and `extra` for whole rows.
///
/// Zeek also logs the connection around a tunnel, which is a tunnel record here: not a difference
/// where our tunnel log has its addresses.
fn compare(expected: &Log, ours: &Ours, score: &mut Score) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let pairs = pairs(&expected.rows, &ours.conn.rows);
    for (nth, row) in expected.rows.iter().enumerate() {
        let mine = pairs.iter().find(|&&(theirs, _)| theirs == nth);
        let Some(&(_, mine)) = mine else {
            if is_outer(row, &ours.tunnel) {
                score.outer += 1;
            } else {
                score.rows += 1;
                found
                    .entry("missing".to_owned())
                    .or_insert(format!("{row:?}"));
            }
            continue;
        };
        if is_outer(row, &ours.tunnel) {
            // Packets of the tunnel's own protocol (keepalives, bubbles) remain a connection.
            score.outer += 1;
            continue;
        }
        score.rows += 1;
        score.rows_found += 1;
        let mine = &ours.conn.rows[mine];
        let fields = COMPARED
            .iter()
            .filter(|&name| expected.fields.iter().any(|f| f == name));
        for &field in fields {
            score.fields += 1;
            let (theirs, mine) = (row.get(field), mine.get(field));
            if same(field, theirs, mine) {
                score.fields_equal += 1;
            } else {
                let example = format!("{mine:?} here, {theirs:?} there: {}", name(row));
                found.entry(field.to_owned()).or_insert(example);
            }
        }
        if !same_tuple(row, mine) {
            found.entry("direction".to_owned()).or_insert(name(row));
        }
    }
    let is_left = |&nth: &usize| !pairs.iter().any(|&(_, mine)| mine == nth);
    let left: Vec<_> = (0..ours.conn.rows.len()).filter(is_left).collect();
    if let Some(&first) = left.first() {
        let example = format!("{}: {:?}", left.len(), ours.conn.rows[first]);
        found.entry("extra".to_owned()).or_insert(example);
    }
    found
}

/// Which expected row is which of ours: of the same tuple (either way round) those that differ
/// least, each row once. Expected times are masked, so they cannot tell.
fn pairs(expected: &[Row], ours: &[Row]) -> Vec<(usize, usize)> {
    let mut candidates = Vec::new();
    for (nth, row) in expected.iter().enumerate() {
        let turned = reversed(row);
        for (other, mine) in ours.iter().enumerate() {
            if same_tuple(row, mine) || same_tuple(&turned, mine) {
                let differs = |&&field: &&&str| {
                    row.contains_key(field) && !same(field, row.get(field), mine.get(field))
                };
                candidates.push((COMPARED.iter().filter(differs).count(), nth, other));
            }
        }
    }
    candidates.sort_unstable();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (_, nth, other) in candidates {
        if !pairs.iter().any(|&(a, b)| a == nth || b == other) {
            pairs.push((nth, other));
        }
    }
    pairs
}

fn is_outer(row: &Row, tunnels: &Log) -> bool {
    let pair = |row: &Row| {
        let mut pair = [row.get("id.orig_h").cloned(), row.get("id.resp_h").cloned()];
        pair.sort();
        pair
    };
    tunnels.rows.iter().any(|tunnel| pair(tunnel) == pair(row))
}

/// As far as the expected row has the tuple.
fn same_tuple(a: &Row, b: &Row) -> bool {
    let fields = TUPLE.iter().chain(&["proto"]);
    let known = fields.filter(|&&field| a.contains_key(field));
    known.into_iter().all(|&field| a.get(field) == b.get(field))
}

fn reversed(row: &Row) -> Row {
    let mut turned = row.clone();
    for (a, b) in [("id.orig_h", "id.resp_h"), ("id.orig_p", "id.resp_p")] {
        let (at_a, at_b) = (turned.remove(a), turned.remove(b));
        turned.extend(at_a.map(|value| (b.to_owned(), value)));
        turned.extend(at_b.map(|value| (a.to_owned(), value)));
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
