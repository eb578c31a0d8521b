//! Lines against the `ftp.log` that Zeek's own test suite expects, and services of its `conn.log`.

use crate::explained::Explained;
use crate::written::files;
use flowpin_testkit::corpus;
use flowpin_testkit::oracle::zeek::Log;
use std::collections::HashMap;
use std::fs;

type Row = HashMap<String, String>;

/// What identifies differently by design, and what Zeek knows of the file itself.
const LEFT_OUT: &[&str] = &["ts", "uid", "mime_type", "fuid"];

/// Every field of every line, or a row that says why not.
#[test]
fn lines_are_those_that_zeek_expects() {
    let Some(shared) = corpus::shared_dir("FTP against Zeek's expected ftp.log") else {
        return;
    };
    let btest = shared.join("corpus/zeek/testing/btest");
    let index = fs::read_to_string(btest.join("INDEX.tsv")).unwrap();
    let mut explained = Explained::parse(include_str!("../explained/ftp.tsv"));
    let (mut open, mut compared, mut equal) = (Vec::new(), Vec::new(), 0);
    for line in index.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<_> = line.split('\t').collect();
        let [folder, trace, _, logs, _] = columns[..] else {
            continue;
        };
        let trace = btest.join("Traces").join(trace);
        if !folder.contains(".ftp.") || !trace.is_file() {
            continue;
        }
        let ours = files(&trace, "zeek", "all");
        for (log, fields) in [("ftp.log", &[][..]), ("conn.log", &["service"][..])] {
            let text = fs::read_to_string(btest.join("Baseline").join(folder).join(log));
            let (true, Ok(text)) = (logs.split(',').any(|one| one == log), text) else {
                continue;
            };
            let ours = Log::parse(ours.get(log).map_or("", String::as_str));
            let theirs = Log::parse(&text);
            let mut differ = |kind: &str, example: String| {
                let known = explained.covers(folder, kind);
                open.extend((!known).then(|| format!("{folder}\t{kind}\t{example}")));
            };
            equal += compare(&ours.rows, &theirs, fields, &mut differ);
        }
        compared.push(folder.to_owned());
    }
    open.extend(explained.stale(&compared));
    println!("{equal} equal fields in {} tests", compared.len());
    assert!(equal > 150, "{equal} equal fields");
    assert!(
        open.is_empty(),
        "{} not explained:\n{}",
        open.len(),
        open.join("\n")
    );
}

/// Holds two logs against each other, line by line; `fields`: only these. How many are equal.
fn compare(
    ours: &[Row],
    theirs: &Log,
    fields: &[&str],
    differ: &mut impl FnMut(&str, String),
) -> usize {
    let mut equal = 0;
    let mut left: Vec<&Row> = ours.iter().collect();
    for row in &theirs.rows {
        let Some(at) = left.iter().position(|mine| is_same(row, mine)) else {
            differ("missing", format!("{row:?}"));
            continue;
        };
        let mine = left.remove(at);
        let names = theirs.fields.iter().map(String::as_str);
        let is_compared =
            |name: &&str| !LEFT_OUT.contains(name) && (fields.is_empty() || fields.contains(name));
        for name in names.filter(is_compared) {
            if row.get(name) == mine.get(name) {
                equal += 1;
            } else {
                differ(
                    name,
                    format!("{:?} here, {:?} there", mine.get(name), row.get(name)),
                );
            }
        }
    }
    for row in left {
        differ("extra", format!("{row:?}"));
    }
    equal
}

/// Of one connection, and one command.
fn is_same(one: &Row, other: &Row) -> bool {
    ["id.orig_p", "id.resp_p", "command", "data_channel.resp_p"]
        .iter()
        .all(|name| one.get(*name) == other.get(*name))
}
