//! libnids 1.26 as a floor: whom it calls a scanner, Flowpin tells, too.
//!
//! Its rule is eleven different pairs of host and port, by TCP segments without ACK, at any pace
//! and whatever comes of them; resets count. With `sensitive` Flowpin tells all who ask so many; a
//! source that is not told, with it or without, needs a row in `tests/explained/libnids-scans.tsv`.

use crate::detect::{Found, detect};
use flowpin_portscan::ScanOptions;
use flowpin_testkit::corpus;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

const SKIPPED: &str = "scanners against libnids";

/// Each source that libnids warns of in the corpus.
#[test]
fn whom_libnids_calls_a_scanner_is_told_or_explained() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = build(folder.path()) else {
        corpus::skip(SKIPPED, "libnids cannot be linked to (libnids-dev)");
        return;
    };
    let explained = explained();
    let sensitive = ScanOptions {
        sensitive: true,
        ..ScanOptions::default()
    };
    let (mut wrong, mut used, mut compared) = (Vec::new(), BTreeSet::new(), 0);
    let bytes_max = if corpus::is_long() {
        u64::MAX
    } else {
        50 << 20
    };
    for capture in corpus::captures(&[], SKIPPED) {
        let bytes = capture.path.metadata().map_or(0, |metadata| metadata.len());
        let theirs = if bytes > bytes_max {
            BTreeSet::new()
        } else {
            scanners(&program, &capture.path)
        };
        if theirs.is_empty() {
            continue;
        }
        let told = sources(&detect(&capture.path, &ScanOptions::default()));
        let all = sources(&detect(&capture.path, &sensitive));
        for source in theirs {
            compared += 1;
            let row = (capture.name.clone(), source);
            let is_never_told = explained.get(&row).is_some_and(|when| when == "both");
            if all.contains(&source) == is_never_told {
                wrong.push(format!("{} {source}: with sensitive", capture.name));
            }
            match (told.contains(&source), explained.contains_key(&row)) {
                (true, true) => wrong.push(format!("{} {source}: told, explained", capture.name)),
                (false, false) => wrong.push(format!("{} {source}: not told", capture.name)),
                _ => {}
            }
            used.insert(row);
        }
    }
    let unused: Vec<_> = explained.keys().filter(|row| !used.contains(row)).collect();
    assert!(wrong.is_empty(), "{compared} sources: {wrong:#?}");
    assert!(
        compared == 0 || unused.is_empty(),
        "rows without a source: {unused:?}"
    );
}

/// By capture and source: where it is not told, `default` or `both`.
fn explained() -> BTreeMap<(String, IpAddr), String> {
    let rows = include_str!("../explained/libnids-scans.tsv").lines();
    let rows = rows.filter(|line| !line.starts_with('#') && !line.is_empty());
    rows.map(|line| {
        let cells: Vec<_> = line.split('\t').collect();
        let &[capture, source, not_told, _] = cells.as_slice() else {
            panic!("four cells: {line}");
        };
        (
            (capture.to_owned(), source.parse().unwrap()),
            not_told.to_owned(),
        )
    })
    .collect()
}

/// Who scans, or floods.
fn sources(found: &Found) -> BTreeSet<IpAddr> {
    let scans = found.scans.iter().flat_map(|scan| scan.sources.as_slice());
    let floods = found
        .floods
        .iter()
        .flat_map(|flood| flood.sources.as_slice());
    scans.chain(floods).copied().collect()
}

fn scanners(program: &Path, path: &Path) -> BTreeSet<IpAddr> {
    let output = Command::new(program).arg(path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = text.lines().filter_map(|line| line.split(' ').next());
    words.map(|address| address.parse().unwrap()).collect()
}

fn build(folder: &Path) -> Option<PathBuf> {
    let source = corpus::workspace().join("tests/scans/nids_scans.c");
    let program = folder.join("nids_scans");
    let compiler = std::env::var_os("CC").unwrap_or("cc".into());
    let output = Command::new(compiler)
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(source)
        .args(["-lnids", "-lpcap"])
        .output();
    output
        .is_ok_and(|output| output.status.success())
        .then_some(program)
}
