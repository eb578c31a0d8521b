//! Records against the `http.log` that Zeek's own test suite expects.
//!
//! A field that differs needs a row in `tests/explained/http-zeek.tsv`: folder of expected results,
//! field, and why. Zeek decodes targets and counts decoded bytes; ours are as they were sent, so
//! targets are compared decoded, and lengths with `[files] decode`.

use crate::explained::Explained;
use flowpin_testkit::oracle::zeek::Log;
use flowpin_testkit::{corpus, product};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

type Row = HashMap<String, String>;

const COMPARED: &[&str] = &[
    "method",
    "host",
    "uri",
    "referrer",
    "version",
    "user_agent",
    "origin",
    "request_body_len",
    "response_body_len",
    "status_code",
    "status_msg",
    "info_code",
    "info_msg",
    "username",
    "proxied",
];

/// What tells a row from others, as far as the expected log has it.
const KEY: &[&str] = &[
    "id.orig_h",
    "id.orig_p",
    "id.resp_h",
    "id.resp_p",
    "trans_depth",
];

/// Every expected row is there, with its fields, or a row of the table says why not.
#[test]
fn records_are_those_that_zeek_expects() {
    let Some(shared) = corpus::shared_dir("records against Zeek's expected http.log") else {
        return;
    };
    let btest = shared.join("corpus/zeek/testing/btest");
    let mut explained = Explained::parse(include_str!("../explained/http-zeek.tsv"));
    let (mut open, mut compared, mut rows) = (Vec::new(), Vec::new(), 0);
    for line in fs::read_to_string(btest.join("INDEX.tsv")).unwrap().lines() {
        let columns: Vec<_> = line.split('\t').collect();
        let [folder, traces, _, logs, how] = columns[..] else {
            continue;
        };
        let expected = fs::read_to_string(btest.join("Baseline").join(folder).join("http.log"));
        let trace = btest.join("Traces").join(traces);
        let (Ok(expected), true) = (expected, trace.is_file()) else {
            continue;
        };
        if !logs.split(',').any(|log| log == "http.log") {
            continue;
        }
        let ignores = how
            .split(' ')
            .any(|word| word.starts_with('-') && word.contains('C'));
        let expected = Log::parse(&expected);
        let ours = ours(&trace, if ignores { "none" } else { "all" });
        rows += expected.rows.len();
        for (field, example) in differences(&expected, ours) {
            if !explained.covers(folder, &field) {
                open.push(format!("{folder}\t{field}\t{example}"));
            }
        }
        compared.push(folder.to_owned());
    }
    open.extend(explained.stale(&compared));
    println!("{rows} rows of {} expected logs", compared.len());
    assert!(open.is_empty(), "not explained:\n{}", open.join("\n"));
}

fn ours(trace: &Path, checksums: &str) -> Vec<Row> {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("settings.toml");
    fs::write(&settings, "[files]\ndecode = true\n").unwrap();
    let words = ["run", "--format", "zeek", "-k", checksums];
    let paths = [trace, folder.path(), &settings].map(|path| path.to_str().unwrap());
    let [trace, logs, settings] = paths;
    let outcome = product::run(&[&words[..], &["-r", trace, "-l", logs, "-c", settings]].concat());
    let outcome = outcome.unwrap();
    assert!(outcome.analysed(), "{trace}: {}", outcome.stderr);
    let log = fs::read_to_string(folder.path().join("http.log")).unwrap_or_default();
    Log::parse(&log).rows
}

/// Fields that differ, with an example each; `missing` for whole rows.
fn differences(expected: &Log, mut ours: Vec<Row>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let has = |name: &&&str| expected.fields.iter().any(|field| field == **name);
    let key: Vec<_> = KEY.iter().filter(has).collect();
    for row in &expected.rows {
        let is_same = |one: &Row| key.iter().all(|&name| one.get(*name) == row.get(*name));
        let Some(at) = ours.iter().position(is_same) else {
            found.insert("missing".to_owned(), format!("{row:?}"));
            continue;
        };
        let mine = ours.remove(at);
        for &name in COMPARED.iter().filter(has) {
            let [here, there] = [&mine, row].map(|row| row.get(name).map_or("", String::as_str));
            let there = if there == "(empty)" || there == "<empty>" {
                ""
            } else {
                there
            };
            if plain(here) != plain(there) {
                let example = format!("{here:?} here, {there:?} there");
                found.entry(name.to_owned()).or_insert(example);
            }
        }
    }
    found
}

/// A value without percent codes or what the log itself escapes.
fn plain(value: &str) -> Vec<u8> {
    let mut rest = value.as_bytes();
    let mut out = Vec::new();
    while let Some((&first, tail)) = rest.split_first() {
        let (code, len) = match (first, tail) {
            (b'%', [a, b, ..]) => (Some([*a, *b]), 2),
            (b'\\', [b'x', a, b, ..]) => (Some([*a, *b]), 3),
            _ => (None, 0),
        };
        let byte =
            code.and_then(|digits| u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok());
        out.push(byte.unwrap_or(first));
        rest = tail
            .get(if byte.is_some() { len } else { 0 }..)
            .unwrap_or_default();
    }
    out
}
