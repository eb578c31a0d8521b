//! The records explained for all packets of a capture are those that a run writes.

use crate::{STORY, explain, plan};
use flowpin_config::Plan;
use flowpin_engine::{Control, Question};
use flowpin_testkit::corpus::workspace;
use std::collections::BTreeMap;
use std::path::Path;

/// The lines of a run, by how often each stands there.
fn written(plan: &Plan) -> BTreeMap<String, usize> {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan.clone();
    plan.output.dir = folder.path().to_owned();
    flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    let records = std::fs::read_to_string(folder.path().join("eve.json")).unwrap();
    count(records.lines().map(str::to_owned))
}

fn count(lines: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in lines {
        *counts.entry(line).or_default() += 1;
    }
    counts
}

/// The lines explained for each packet from 1 on: those that it caused, and, of a connection's
/// first one, those of its end.
fn explained(plan: &Plan) -> BTreeMap<String, usize> {
    let mut lines = Vec::new();
    for number in 1.. {
        let (accounts, report) = explain(plan, Question::Packet(number));
        if report.explained == 0 {
            break;
        }
        let own = accounts.iter().filter(|one| one.number == number);
        let own = own.flat_map(|one| &one.records);
        let of_end = report.connections.iter().flat_map(|one| &one.records);
        let of_end = of_end.filter(|one| one.key.number == number);
        let records = own.chain(of_end);
        lines.extend(records.flat_map(|one| one.lines.iter().map(|line| line.text.clone())));
    }
    count(lines.into_iter())
}

pub(crate) fn check(path: &Path, more: impl FnOnce(&mut Plan)) {
    let mut plan = plan(path);
    plan.scans.enabled = false;
    more(&mut plan);
    let (written, explained) = (written(&plan), explained(&plan));
    assert!(!written.is_empty());
    assert_eq!(written, explained, "{}", path.display());
}

#[test]
fn the_records_of_the_story_are_explained() {
    check(Path::new(STORY), |_| ());
}

/// Interim records belong to no packet.
#[test]
fn interim_records_are_explained() {
    check(Path::new(STORY), |plan| plan.interim_ns = Some(4_000_000));
}

/// Records of tunnels and of messages, of fragments, of SCTP.
#[test]
fn the_records_of_bundled_captures_are_explained() {
    for name in ["dns-fragments.pcap", "sctp.pcap", "ntp.pcap"] {
        check(&workspace().join("testkit/captures").join(name), |_| ());
    }
}
