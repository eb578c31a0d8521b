//! What Suricata 8.0.6 alerts of with the rules of ET Open, where captures and rules are there.

use flowpin_config::{Checksums, Format, Input, Plan};
use flowpin_engine::Control;
use flowpin_rules::Reader;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// On every capture of the corpus the same rules alert, or a row of `explained/alerts.tsv` says who
/// is right; on mixed traffic as often.
#[test]
fn the_same_rules_alert_on_every_capture() {
    let folder = tempfile::tempdir().unwrap();
    let Some((corpus, rules)) = rules(folder.path()) else {
        return;
    };
    let (facts, mut differences) = (facts(&corpus), BTreeSet::new());
    assert!(facts.len() > 50 && facts.contains_key("mix/mix-dev.pcap"));
    for (capture, expected) in &facts {
        let found = alerts(&corpus.join(capture), &rules);
        if capture == "mix/mix-dev.pcap" {
            assert_eq!(found, *expected);
        }
        for sid in expected.keys().filter(|sid| !found.contains_key(sid)) {
            differences.insert(format!("{capture}\t{sid}\tmissing"));
        }
        for sid in found.keys().filter(|sid| !expected.contains_key(sid)) {
            differences.insert(format!("{capture}\t{sid}\textra"));
        }
    }
    let rows = include_str!("../explained/alerts.tsv").lines();
    let rows = rows.filter(|row| !row.starts_with('#'));
    let explained = rows.map(|row| {
        let end = row.match_indices('\t').nth(2).unwrap().0;
        row[..end].to_owned()
    });
    assert_eq!(differences, explained.collect());
}

/// How often each rule alerts on a capture.
fn alerts(capture: &Path, rules: &Plan) -> BTreeMap<u32, u64> {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = Plan {
        inputs: vec![Input::File(capture.to_owned())],
        // As the facts were made.
        checksums: Checksums::None,
        ..rules.clone()
    };
    plan.parse.ja3 = true;
    plan.output.formats = vec![Format::Eve];
    plan.output.dir = folder.path().to_owned();
    let report = flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    let counted = report.found.alerts.rules.iter();
    counted.map(|one| (one.sid, one.alerts)).collect()
}

/// How often each rule alerts with the usual variables, by capture: Suricata's facts.
fn facts(corpus: &Path) -> BTreeMap<String, BTreeMap<u32, u64>> {
    let facts = fs::read_to_string(corpus.join("rules/alerts-dev.tsv")).unwrap();
    let mut by_capture = BTreeMap::<_, BTreeMap<_, _>>::new();
    for line in facts.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields.get(1) == Some(&"default") {
            let of_capture = by_capture.entry(fields[0].to_owned()).or_default();
            of_capture.insert(fields[3].parse().unwrap(), fields[5].parse().unwrap());
        }
    }
    by_capture
}

/// The corpus, and a plan with the rules.
fn rules(into: &Path) -> Option<(PathBuf, Plan)> {
    let shared = std::env::var("FLOWPIN_SHARED").unwrap_or("../../shared".to_owned());
    let corpus = Path::new(&shared).join("corpus");
    let Some(folder) = unpacked(&corpus, into) else {
        println!("skipped: no rules of ET Open in {}", corpus.display());
        return None;
    };
    let mut reader = Reader::default();
    reader.read(&folder).unwrap();
    let mut plan = Plan::default();
    plan.rules.loaded = Some(Arc::new(reader.finish().set));
    Some((corpus, plan))
}

/// The rules, unpacked by tar.
fn unpacked(corpus: &Path, into: &Path) -> Option<PathBuf> {
    let packed = corpus.join("rules/rulesets/et-2024-04-21.tar.gz");
    if !packed.exists() || !corpus.join("mix/mix-dev.pcap").exists() {
        return None;
    }
    let status = Command::new("tar")
        .arg("xzf")
        .arg(packed)
        .arg("-C")
        .arg(into)
        .status();
    let folder = into.join("et-2024-04-21");
    (status.ok()?.success() && folder.is_dir()).then_some(folder)
}
