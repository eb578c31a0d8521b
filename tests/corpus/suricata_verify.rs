//! All events that Suricata's own test suite expects, by the judge beside the corpus.
//!
//! Each check that does not hold needs a row in `tests/explained/suricata-verify.yaml`: the test, a
//! class, the numbers of its checks, and who is right. Checks of what Flowpin does not write, or
//! of rules, are not counted.

use flowpin_testkit::{corpus, product};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// So many checks must hold, those that want no event included.
const PASSED_MIN: usize = 588;

/// So many at most have a row that says that Suricata is right, or not who is.
const OPEN_MAX: usize = 3;

const EXPLAINED: &str = include_str!("../explained/suricata-verify.yaml");

/// The number of checks that hold does not fall, and those that do not are explained.
#[test]
fn events_are_those_that_suricata_expects() {
    let what = "events against all that Suricata's test suite expects";
    let Some(shared) = corpus::shared_dir(what) else {
        return;
    };
    let judge = shared.join("tools/sv_check.py");
    let can_read = Command::new("python3").args(["-c", "import yaml"]).output();
    if !judge.is_file() || !can_read.is_ok_and(|run| run.status.success()) {
        let needs = format!("needs python3 with yaml, and {}", judge.display());
        return corpus::skip(what, &needs);
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let overrides = folder.path().join("explained.yaml");
    fs::write(&overrides, EXPLAINED).unwrap();
    let run = Command::new("python3")
        .arg(judge)
        .arg(shared.join("corpus/suricata-verify"))
        .arg(product::command().unwrap())
        .arg("--overrides")
        .arg(overrides)
        .arg("-o")
        .arg(&out)
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{complaints}");
    let results = fs::read_to_string(out.join("results.tsv")).unwrap();
    let mut explained = explained(EXPLAINED);
    let mut open = Vec::new();
    let mut passed = 0usize;
    let mut unsettled = 0usize;
    for line in results.lines().skip(1) {
        let columns: Vec<_> = line.split('\t').collect();
        let [test, number, kind, verdict, reason, detail, ..] = columns[..] else {
            continue;
        };
        passed += usize::from(verdict == "passed");
        unsettled += usize::from(reason.starts_with("open"));
        if verdict == "failed" {
            open.push(format!("{test}: check {number} ({kind}): {detail}"));
        }
        let row = explained.remove(&(test.to_owned(), number.to_owned()));
        if row.is_some_and(|class| !reason.starts_with(&class)) {
            open.push(format!(
                "{test}: check {number} is explained but does not fail"
            ));
        }
    }
    let unknown = explained.into_keys();
    open.extend(unknown.map(|(test, number)| format!("{test}: there is no check {number}")));
    println!("{passed} checks hold, {unsettled} are open");
    assert!(open.is_empty(), "not explained:\n{}", open.join("\n"));
    assert!(
        passed >= PASSED_MIN,
        "{passed} checks hold, before {PASSED_MIN}"
    );
    assert!(
        unsettled <= OPEN_MAX,
        "{unsettled} checks are open, before {OPEN_MAX}"
    );
}

/// The rows of the table, one for each check: test and number, with the class of its explanation.
/// A row is one line, `TEST: {class: CLASS, checks: [NUMBERS], reason: "TEXT"}`.
fn explained(table: &str) -> BTreeMap<(String, String), String> {
    let mut rows = BTreeMap::new();
    let is_row = |line: &&str| !line.is_empty() && !line.starts_with('#');
    for line in table.lines().filter(is_row) {
        let row = line.split_once(": {class: ").and_then(|(test, rest)| {
            let (class, rest) = rest.split_once(", checks: [")?;
            let (checks, reason) = rest.split_once("], reason: \"")?;
            reason.ends_with("\"}").then_some((test, class, checks))
        });
        let (test, class, checks) = row.unwrap_or_else(|| panic!("not a row: {line}"));
        for check in checks.split(", ") {
            let class = class.trim_matches('"').to_owned();
            let before = rows.insert((test.to_owned(), check.to_owned()), class);
            assert!(before.is_none(), "twice in the table: {line}");
        }
    }
    rows
}
