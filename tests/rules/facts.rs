//! What Suricata 8.0.6 alerts of with the rules of ET Open, where captures and rules are there.

use flowpin_config::{Format, Input, Plan};
use flowpin_engine::Control;
use flowpin_rules::Reader;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// The same rules alert as often on a mixed capture, with the usual variables.
#[test]
fn et_open_alerts_as_suricata_does() {
    let shared = std::env::var("FLOWPIN_SHARED").unwrap_or("../../shared".to_owned());
    let corpus = Path::new(&shared).join("corpus");
    let folder = tempfile::tempdir().unwrap();
    let Some(rules) = unpacked(&corpus, folder.path()) else {
        return println!("skipped: no rules of ET Open in {}", corpus.display());
    };
    let mut reader = Reader::default();
    reader.read(&rules).unwrap();
    let mut plan = Plan {
        inputs: vec![Input::File(corpus.join("mix/mix-dev.pcap"))],
        ..Plan::default()
    };
    plan.parse.ja3 = true;
    plan.rules.loaded = Some(Arc::new(reader.finish().set));
    plan.output.formats = vec![Format::Eve];
    plan.output.dir = folder.path().to_owned();
    let report = flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    let counted = report
        .found
        .alerts
        .rules
        .iter()
        .map(|one| (one.sid, one.alerts));
    let found: BTreeMap<u32, u64> = counted.collect();
    let facts = std::fs::read_to_string(corpus.join("rules/alerts-dev.tsv")).unwrap();
    let expected = facts.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let is_it =
            fields.first() == Some(&"mix/mix-dev.pcap") && fields.get(1) == Some(&"default");
        is_it.then(|| (fields[3].parse().unwrap(), fields[5].parse().unwrap()))
    });
    assert_eq!(found, expected.collect());
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
