//! The first promise: the same bytes for any pipeline, for every run, for every dispatch secret,
//! also when caps evict and when clocks run wild. And the second: every packet accounted for.

use crate::records::number;
use flowpin_testkit::pcap::Capture;
use flowpin_testkit::{corpus, product, reorder};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What must change nothing. The first is the reference.
const SHAPES: &[&[&str]] = &[
    &["--pipeline", "1x1", "--seed", "1"],
    &["--pipeline", "1x1", "--seed", "1"],
    &["--pipeline", "1x1", "--seed", "7777"],
    &["--pipeline", "2x1"],
    &["--pipeline", "2x2"],
    &["--pipeline", "2x3", "--cut", "capture"],
    &["--pipeline", "2x7", "--seed", "99"],
    &["--pipeline", "3x2", "--cut", "l3"],
];
const FORMATS: &str = "eve,zeek,zeek-json,csv,parquet";
/// So little that shards fill up and evict; the least that is accepted.
const TINY: &str = "1 MiB";

type Files = BTreeMap<String, Vec<u8>>;

/// One run into a folder of its own: all files, if the input could be analysed.
fn run(inputs: &[PathBuf], shape: &[&str], more: &[&str]) -> Option<Files> {
    let folder = tempfile::tempdir().unwrap();
    let mut words: Vec<&str> = vec!["run", "--json", "--format", FORMATS];
    for input in inputs {
        words.extend(["-r", input.to_str().unwrap()]);
    }
    words.extend(["-l", folder.path().to_str().unwrap()]);
    words.extend(shape);
    words.extend(more);
    let outcome = product::run(&words).unwrap();
    let what = format!("{:?} … {shape:?} {more:?}", inputs.first());
    assert!(
        matches!(outcome.code, 0 | 3 | 4),
        "{what}: exit code {}: {}",
        outcome.code,
        outcome.stderr
    );
    if !outcome.analysed() {
        return None;
    }
    let summary = outcome.json().unwrap();
    let conservation = &summary["conservation"];
    assert_eq!(conservation["missing"], 0, "{what}: {conservation}");
    assert_eq!(conservation["received"], summary["traffic"]["packets"], "{what}");
    assert_eq!(number(&summary["losses"]["packets_misdirected"]), 0, "{what}");
    Some(product::files(folder.path()).unwrap())
}

/// Fails with the first difference, so that one sees what kind it is.
fn assert_same(reference: &Files, other: &Files, what: &str) {
    let names = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(reference), names(other), "{what}: other files");
    for (name, bytes) in reference {
        let theirs = &other[name];
        if bytes == theirs {
            continue;
        }
        let (ours, theirs) = (String::from_utf8_lossy(bytes), String::from_utf8_lossy(theirs));
        let pair = ours.lines().zip(theirs.lines()).find(|(a, b)| a != b);
        panic!("{what}: {name} differs: {pair:#?}");
    }
}

/// All shapes, or one chosen by `turn`, against the reference.
fn compare(inputs: &[PathBuf], turn: Option<usize>, more: &[&str]) {
    let Some(reference) = run(inputs, SHAPES[0], more) else {
        return;
    };
    let rest = &SHAPES[1..];
    let chosen = match turn {
        Some(turn) => &rest[turn % rest.len()..][..1],
        None => rest,
    };
    for shape in chosen {
        let what = format!("{:?} … {shape:?} {more:?}", inputs[0]);
        let other = run(inputs, shape, more).unwrap_or_else(|| panic!("{what}: not analysed"));
        assert_same(&reference, &other, &what);
    }
}

/// The captures that the promise is held to.
fn inputs() -> Vec<PathBuf> {
    let mut found = corpus::bundled();
    let public = corpus::captures(&["D ", "E ", "A mix"], "the promise on public captures");
    found.extend(public.into_iter().map(|capture| capture.path));
    found
}

/// Copies with shuffled timestamps, of those that are plain pcap files.
fn shuffled(inputs: &[PathBuf], folder: &Path) -> Vec<PathBuf> {
    let plain = inputs.iter().enumerate().filter_map(|(nth, path)| {
        let file = fs::read(path).ok()?;
        let count = Capture::parse(file.clone()).ok()?.packets.len();
        // Some within a window, as a bad merge does it, some all over the file.
        let window = if nth % 2 == 0 { 50 } else { count.max(1) };
        let copy = folder.join(format!("{nth}.pcap"));
        fs::write(&copy, reorder::shuffle_times(file, window, nth as u64).ok()?).ok()?;
        Some(copy)
    });
    plain.collect()
}

/// Each capture alone: every shape in the long form, else one after the other in turn.
#[test]
fn each_capture_gives_the_same_bytes_for_any_pipeline() {
    for (nth, input) in inputs().into_iter().enumerate() {
        let turn = (!corpus::is_long()).then_some(nth);
        compare(&[input.clone()], turn, &[]);
        if corpus::is_long() {
            compare(&[input], turn, &["--memory", TINY]);
        }
    }
}

/// The bundled captures under every shape, as they are, with little memory and with wild clocks.
#[test]
fn bundled_captures_give_the_same_bytes_for_every_pipeline() {
    let inputs = corpus::bundled();
    let folder = tempfile::tempdir().unwrap();
    let shuffled = shuffled(&inputs, folder.path());
    for inputs in [&inputs, &shuffled] {
        compare(inputs, None, &["--memory", TINY, "--interim", "1 s"]);
        for input in inputs.iter() {
            compare(std::slice::from_ref(input), Some(6), &[]);
        }
    }
}

/// All at once, as one stream merged by time: connections of a thousand captures compete for the
/// same shards, so caps evict, and every shape must evict the same.
#[test]
fn all_captures_as_one_stream_give_the_same_bytes_for_every_pipeline() {
    let readable: Vec<_> = inputs()
        .into_iter()
        .filter(|input| run(std::slice::from_ref(input), SHAPES[0], &[]).is_some())
        .collect();
    compare(&readable, None, &[]);
    compare(&readable, None, &["--memory", TINY]);
}

/// The same with timestamps shuffled: time-outs and evictions at every turn.
#[test]
fn shuffled_timestamps_give_the_same_bytes_for_every_pipeline() {
    let folder = tempfile::tempdir().unwrap();
    let shuffled = shuffled(&inputs(), folder.path());
    compare(&shuffled, None, &[]);
    compare(&shuffled, None, &["--memory", TINY, "--timeouts", "suricata"]);
}

/// A test that evicts nothing would not test evictions.
#[test]
fn little_memory_does_evict() {
    let Some(shared) = corpus::shared_dir("evictions on the mix trace") else {
        return;
    };
    let mix = shared.join("corpus/mix/mix-dev.pcap");
    let words = ["run", "--json", "--format", "none", "--memory", TINY, "-r"];
    let outcome = product::run(&[&words[..], &[mix.to_str().unwrap()]].concat()).unwrap();
    let summary = outcome.json().unwrap();
    assert!(number(&summary["losses"]["connections_evicted"]) > 0, "{summary}");
}
