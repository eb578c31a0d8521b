//! The formats against those of the tools they come from, as far as their test suites tell.
//!
//! Skipped, with the reason, where the corpus is missing: `FLOWPIN_SHARED` or `../shared` beside
//! the repository.

#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn corpus(below: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("FLOWPIN_SHARED").map_or(beside, PathBuf::from);
    let path = shared.join("corpus").join(below);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: no corpus at {}", path.display());
    None
}

/// All files of one name below a directory.
fn files_named(dir: &Path, name: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_named(&path, name, found);
        } else if path.file_name().is_some_and(|file| file == name) {
            found.push(path);
        }
    }
}

/// Zeek's columns in Zeek's order with Zeek's types; the Community ID is its script's.
#[test]
fn conn_log_has_zeeks_columns_and_types() {
    let Some(dir) = corpus("zeek/testing/btest/Baseline") else {
        return;
    };
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/conn.log");
    let golden = std::fs::read_to_string(golden).unwrap();
    let line = |text: &str, start: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with(start))
            .map(str::to_owned);
        line.unwrap_or_default()
    };
    let mut logs = Vec::new();
    files_named(&dir, "conn.log", &mut logs);
    let mut compared = 0;
    for log in logs {
        let theirs = std::fs::read_to_string(&log).unwrap();
        // Others were made with fields cut out or added by scripts.
        if !theirs.contains("\n#fields\tts\tuid\tid.orig_h\t")
            || !theirs.contains("\tlocal_resp\t")
            || !theirs.contains("\tip_proto\n")
        {
            continue;
        }
        let fields = line(&theirs, "#fields") + "\tcommunity_id";
        let types = line(&theirs, "#types") + "\tstring";
        assert_eq!(line(&golden, "#fields"), fields, "{}", log.display());
        assert_eq!(line(&golden, "#types"), types, "{}", log.display());
        for start in [
            "#separator",
            "#set_separator",
            "#empty_field",
            "#unset_field",
            "#path",
        ] {
            assert_eq!(line(&golden, start), line(&theirs, start));
        }
        compared += 1;
    }
    assert!(compared > 5, "{compared}");
}

/// What Suricata's tests ask of flow events, we write, but for what we do not have.
#[test]
fn flow_events_have_the_fields_that_suricatas_tests_ask_for() {
    let Some(dir) = corpus("suricata-verify/tests") else {
        return;
    };
    let page = flowpin_output::records_page(&flowpin_output::MessageSchemas::default());
    let flow = page.split("\n### `flow`\n").nth(1).unwrap();
    let flow = flow.split("\n### ").next().unwrap();
    let ours: BTreeSet<_> = flow
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let mut tests = Vec::new();
    files_named(&dir, "test.yaml", &mut tests);
    let mut asked = BTreeSet::new();
    for test in tests {
        let text = std::fs::read_to_string(test).unwrap();
        for matched in text
            .split("match:")
            .filter(|part| part.contains("event_type: flow\n"))
        {
            let keys = matched
                .lines()
                .filter_map(|line| line.trim().split_once(": "));
            asked.extend(keys.map(|(key, _)| key.to_owned()));
        }
    }
    asked.retain(|key| key.starts_with("flow.") || key.starts_with("tcp."));
    assert!(asked.len() > 15, "{asked:?}");
    let missing: Vec<_> = asked
        .iter()
        .filter(|key| !ours.contains(key.as_str()))
        .collect();
    // Verdicts of an inline firewall, transactions and reassembly: not of this stage.
    let known = [
        "flow.action",
        "flow.exception_policy",
        "flow.tx_cnt",
        "tcp.tc_max_regions",
        "tcp.ts_max_regions",
    ];
    for key in missing {
        assert!(known.iter().any(|known| key.starts_with(known)), "{key}");
    }
}
