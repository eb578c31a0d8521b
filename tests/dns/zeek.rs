//! Transactions against the `dns.log` that Zeek's own test suite expects.

use crate::explained::Explained;
use crate::written::files;
use flowpin_testkit::corpus;
use flowpin_testkit::oracle::zeek::Log;
use std::collections::HashMap;
use std::fs;

type Row = HashMap<String, String>;

/// What identifies differently by design is not compared.
const LEFT_OUT: &[&str] = &["ts", "uid"];

/// Every field of every line, or a row that says why not.
#[test]
fn lines_are_those_that_zeek_expects() {
    let Some(shared) = corpus::shared_dir("DNS against Zeek's expected dns.log") else {
        return;
    };
    let btest = shared.join("corpus/zeek/testing/btest");
    let index = fs::read_to_string(btest.join("INDEX.tsv")).unwrap();
    let mut explained = Explained::parse(include_str!("../explained/dns.tsv"));
    let (mut open, mut compared, mut fields, mut equal) = (Vec::new(), Vec::new(), 0, 0);
    for line in index.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<_> = line.split('\t').collect();
        let [folder, trace, _, logs, how] = columns[..] else {
            continue;
        };
        let mut names = ["dns.log", "dns.log.cut"].into_iter();
        let log = names.find(|name| logs.split(',').any(|log| log == *name));
        let (Some(log), trace) = (log, btest.join("Traces").join(trace)) else {
            continue;
        };
        let text = fs::read_to_string(btest.join("Baseline").join(folder).join(log));
        let (Ok(text), true) = (text, trace.is_file()) else {
            continue;
        };
        let ignores = how.split_whitespace().any(|word| word == "-C");
        let ours = files(&trace, "zeek", if ignores { "none" } else { "all" });
        let ours = Log::parse(ours.get("dns.log").map_or("", String::as_str));
        let theirs = Log::parse(&text);
        let mut left: Vec<&Row> = ours.rows.iter().collect();
        for row in &theirs.rows {
            let Some(at) = left.iter().position(|mine| same_transaction(row, mine)) else {
                let example = format!("{row:?}");
                open.extend(unexplained(&mut explained, folder, "missing", &example));
                continue;
            };
            let mine = left.remove(at);
            let names = theirs.fields.iter().map(String::as_str);
            for name in names.filter(|name| !LEFT_OUT.contains(name)) {
                fields += 1;
                if row.get(name) == mine.get(name) {
                    equal += 1;
                    continue;
                }
                let example = format!("{:?} here, {:?} there", mine.get(name), row.get(name));
                open.extend(unexplained(&mut explained, folder, name, &example));
            }
        }
        for row in left {
            open.extend(unexplained(
                &mut explained,
                folder,
                "extra",
                &format!("{row:?}"),
            ));
        }
        compared.push(folder.to_owned());
    }
    open.extend(explained.stale(&compared));
    println!("{equal} of {fields} fields in {} logs", compared.len());
    assert!(
        open.is_empty(),
        "{} not explained:\n{}",
        open.len(),
        open.join("\n")
    );
}

fn unexplained(table: &mut Explained, folder: &str, kind: &str, example: &str) -> Option<String> {
    (!table.covers(folder, kind)).then(|| format!("{folder}\t{kind}\t{example}"))
}

/// The same endpoints, either way round, identifier and name in any case.
fn same_transaction(one: &Row, other: &Row) -> bool {
    let ends = |row: &Row| {
        let end =
            |side: &str| ["h", "p"].map(|part| row.get(&format!("id.{side}_{part}")).cloned());
        let mut ends = [end("orig"), end("resp")];
        ends.sort();
        ends
    };
    let name = |row: &Row| row.get("query").map(|name| name.to_lowercase());
    let cut = !one.contains_key("trans_id");
    let names = [name(one), name(other)];
    (cut || (ends(one) == ends(other) && one.get("trans_id") == other.get("trans_id")))
        && (names[0] == names[1] || names.contains(&None))
}
