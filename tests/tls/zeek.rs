//! Lines against the `ssl.log`, `x509.log` and `quic.log` that Zeek's own test suite expects.

use crate::explained::Explained;
use crate::written::files;
use flowpin_testkit::corpus;
use flowpin_testkit::oracle::zeek::Log;
use std::collections::HashMap;
use std::fs;

type Row = HashMap<String, String>;

/// What identifies differently by design is not compared.
const LEFT_OUT: &[&str] = &["ts", "uid"];

/// Every column that both have, of every line, or a row that says why not.
#[test]
fn lines_are_those_that_zeek_expects() {
    let Some(shared) = corpus::shared_dir("TLS and QUIC against Zeek's expected logs") else {
        return;
    };
    let btest = shared.join("corpus/zeek/testing/btest");
    let index = fs::read_to_string(btest.join("INDEX.tsv")).unwrap();
    let mut explained = Explained::parse(include_str!("../explained/tls.tsv"));
    let (mut open, mut compared, mut fields, mut equal) = (Vec::new(), Vec::new(), 0, 0);
    for line in index.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<_> = line.split('\t').collect();
        let [folder, trace, _, logs, how] = columns[..] else {
            continue;
        };
        for name in ["ssl.log", "x509.log", "quic.log"] {
            let trace = btest.join("Traces").join(trace);
            let expected = btest.join("Baseline").join(folder).join(name);
            let (true, true, Ok(text)) = (
                logs.split(',').any(|log| log == name),
                trace.is_file(),
                fs::read_to_string(expected),
            ) else {
                continue;
            };
            let ignores = how.split_whitespace().any(|word| word == "-C");
            let ours = files(&trace, "zeek", if ignores { "none" } else { "all" });
            let ours = Log::parse(ours.get(name).map_or("", String::as_str));
            let theirs = Log::parse(&text);
            // Cut to some columns, without saying which.
            if theirs.fields.is_empty() {
                continue;
            }
            let place = format!("{folder} {name}");
            for (kind, example) in differences(&ours, &theirs, &mut fields, &mut equal) {
                if !explained.covers(&place, &kind) {
                    open.push(format!("{place}\t{kind}\t{example}"));
                }
            }
            compared.push(place);
        }
    }
    open.extend(explained.stale(&compared));
    println!("{equal} of {fields} columns in {} logs", compared.len());
    assert!(fields > 500, "{fields} columns");
    assert!(
        open.is_empty(),
        "{} not explained:\n{}",
        open.len(),
        open.join("\n")
    );
}

/// Kinds of differences, with examples; counts the columns compared, and those that are equal.
fn differences(
    ours: &Log,
    theirs: &Log,
    fields: &mut u32,
    equal: &mut u32,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut left: Vec<&Row> = ours.rows.iter().collect();
    for row in &theirs.rows {
        let Some(at) = left.iter().position(|mine| is_of_the_same(mine, row)) else {
            found.push(("missing".to_owned(), format!("{row:?}")));
            continue;
        };
        let mine = left.remove(at);
        let names = theirs.fields.iter().map(String::as_str);
        for name in names.filter(|name| !LEFT_OUT.contains(name)) {
            let (Some(mine), Some(theirs)) = (mine.get(name), row.get(name)) else {
                continue;
            };
            *fields += 1;
            if mine == theirs {
                *equal += 1;
            } else {
                found.push((name.to_owned(), format!("{mine} here, {theirs} there")));
            }
        }
    }
    let extra = left.into_iter();
    found.extend(extra.map(|row| ("extra".to_owned(), format!("{row:?}"))));
    found
}

/// By the ends that an expected line tells, a certificate's by its fingerprint: some logs are cut
/// to some columns.
fn is_of_the_same(mine: &Row, theirs: &Row) -> bool {
    let names = [
        "id.orig_h",
        "id.orig_p",
        "id.resp_h",
        "id.resp_p",
        "fingerprint",
    ];
    names
        .iter()
        .filter_map(|&name| Some((name, theirs.get(name)?)))
        .all(|(name, end)| mine.get(name) == Some(end))
}
