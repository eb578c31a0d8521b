//! All logs that Zeek's own test suite expects, by the judge beside the corpus.
//!
//! Each row that is missing and each field that differs needs a row in
//! `tests/explained/zeek-baselines.tsv`: folder of expected results, log and field, and who is
//! right. Identifiers of files, which Zeek draws by lot, are not compared.

use crate::explained::Explained;
use flowpin_testkit::{corpus, product};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Of each log: percent of the rows that must be found, percent of their fields that must be equal.
const FLOORS: &[(&str, f64, f64)] = &[
    ("conn", 100.0, 97.7),
    ("http", 86.0, 96.6),
    ("dns", 89.0, 100.0),
    ("ssl", 100.0, 99.4),
    ("files", 75.0, 87.0),
    ("smtp", 94.0, 94.0),
    ("sip", 100.0, 98.4),
    ("weird", 18.0, 100.0),
    ("tunnel", 93.0, 100.0),
    ("quic", 87.0, 97.0),
    ("redis", 98.0, 97.4),
];

const IDENTIFIERS: &[&str] = &["orig_fuids", "resp_fuids", "fuids", "parent_fuid"];

/// The shares do not fall, and what differs is explained.
#[test]
fn logs_are_those_that_zeek_expects() {
    let what = "logs against all that Zeek's test suite expects";
    let Some(shared) = corpus::shared_dir(what) else {
        return;
    };
    let judge = shared.join("tools/zeek_check.py");
    let has_python = Command::new("python3").arg("--version").output().is_ok();
    if !judge.is_file() || !has_python {
        return corpus::skip(what, &format!("needs python3 and {}", judge.display()));
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    ask(&judge, &shared.join("corpus/zeek/testing/btest"), &out);
    let summary = fs::read_to_string(out.join("summary.txt")).unwrap();
    println!("{}", summary.split("\n\n").nth(1).unwrap_or_default());
    let mut open = too_few(&summary);
    let mut explained = Explained::parse(include_str!("../explained/zeek-baselines.tsv"));
    let mut compared = Vec::new();
    for line in fs::read_to_string(out.join("diffs.tsv"))
        .unwrap()
        .lines()
        .skip(1)
    {
        let columns: Vec<_> = line.split('\t').collect();
        let [log, field, folder, _, zeek, ours, row, ..] = columns[..] else {
            continue;
        };
        let kind = format!("{log}.{field}");
        if !IDENTIFIERS.contains(&field) && !explained.covers(folder, &kind) {
            open.push(format!("{folder}\t{kind}\tzeek {zeek} ours {ours} {row}"));
        }
        compared.push(folder.to_owned());
    }
    open.extend(explained.stale(&compared));
    assert!(open.is_empty(), "not explained:\n{}", open.join("\n"));
}

/// Runs the judge, which wants the names of several logs apart by blanks, and options likewise.
fn ask(judge: &Path, btest: &Path, out: &Path) {
    let index = fs::read_to_string(btest.join("INDEX.tsv")).unwrap();
    let lines = index.lines().map(|line| {
        let mut columns: Vec<_> = line.split('\t').map(str::to_owned).collect();
        for number in [1, 3] {
            if let Some(column) = columns.get_mut(number).filter(|_| !line.starts_with('#')) {
                *column = column.replace(',', " ");
            }
        }
        // The judge looks for `-C` as a word of its own.
        columns.join("\t").replace(" -Cr ", " -C -r ") + "\n"
    });
    let by_blanks = out.with_extension("tsv");
    fs::write(&by_blanks, lines.collect::<String>()).unwrap();
    let run = Command::new("python3")
        .arg(judge)
        .arg(btest)
        .arg(product::command().unwrap())
        .arg("--index")
        .arg(by_blanks)
        .arg("-o")
        .arg(out)
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{complaints}");
}

/// The logs whose shares are below their floors: a line has the log, tests, rows, rows found, their
/// percentage, rows turned around, further rows, percent of equal fields, and logs that are equal.
fn too_few(summary: &str) -> Vec<String> {
    let mut open = Vec::new();
    for &(log, rows, fields) in FLOORS {
        let line = summary
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .find(|words| words.first() == Some(&log) && words.len() == 9);
        let number = |word: usize| {
            let text = line.as_ref()?.get(word)?.trim_end_matches('%');
            text.parse::<f64>().ok()
        };
        let found = number(4).unwrap_or_default();
        let equal = number(7).unwrap_or_default();
        if found < rows || equal < fields {
            open.push(format!(
                "{log}: {found} % of the rows, of which {rows} were found before; \
                 {equal} % of the fields, before {fields}"
            ));
        }
    }
    open
}
