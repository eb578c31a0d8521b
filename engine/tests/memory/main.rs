//! Memory: whatever there is of it, the answer depends on the packets alone, not on the number of
//! workers, and not on where pieces end.

#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

mod early;
mod filled;
mod held;
mod leap;
mod storm;

use flowpin_config::{Format, Input, Plan};
use flowpin_counters::Loss;
use flowpin_engine::{Control, RunReport};
use flowpin_testkit::corpus;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use storm::{Dice, storm};

const SHAPES: [&str; 8] = ["1x1", "2x1", "2x2", "2x3", "3x2", "2x7", "1x7", "1x2"];
/// Bytes that are read at a time: as usual, and as a pipe brings them that falls silent.
const PIECES: [usize; 5] = [256 << 10, 70_000, 9_000, 1_000_000, 100_000];

/// What a run found: its files, and what its summary says was lost.
#[derive(PartialEq, Eq)]
struct Answer {
    files: BTreeMap<String, Vec<u8>>,
    losses: Vec<(&'static str, u64)>,
}

/// How much memory there is, and whether bodies get half of it.
#[derive(Clone, Copy, Debug)]
struct Memory {
    bytes: u64,
    decodes: bool,
}

impl Memory {
    /// From 1 MiB up, doubled less than `steps` times.
    fn any(dice: &mut Dice, steps: usize) -> Self {
        Self {
            bytes: (1 << 20) << dice.below(steps),
            decodes: dice.below(2) == 0,
        }
    }
}

fn run(inputs: &[PathBuf], memory: Memory, shape: &str, piece_bytes: usize) -> Answer {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = Plan {
        inputs: inputs.iter().cloned().map(Input::File).collect(),
        pipeline: shape.parse().unwrap(),
        memory_bytes: memory.bytes,
        piece_bytes,
        ..Plan::default()
    };
    (plan.files.decode, plan.files.md5) = (memory.decodes, memory.decodes);
    plan.output.formats = vec![Format::Eve, Format::Csv];
    plan.output.dir = folder.path().to_owned();
    let report = flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    Answer {
        files: files(folder.path()),
        losses: losses(&report),
    }
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect()
}

fn losses(report: &RunReport) -> Vec<(&'static str, u64)> {
    let all = report.losses.iter();
    all.map(|(loss, count)| (loss.name(), count)).collect()
}

fn assert_same(expected: &Answer, found: &Answer, how: &str) {
    assert_eq!(expected.losses, found.losses, "{how}");
    for (name, bytes) in &expected.files {
        if found.files.get(name) == Some(bytes) {
            continue;
        }
        let texts = [bytes, &found.files[name]].map(|bytes| String::from_utf8_lossy(bytes));
        let mut lines = texts[0].lines().zip(texts[1].lines());
        let first = lines.find(|(one, other)| one != other);
        panic!("{how}: {name}: {first:#?}");
    }
    assert_eq!(expected.files.len(), found.files.len(), "{how}");
}

/// Compares as many divisions of the work as `count`, with as much memory as the dice say.
fn check(inputs: &[PathBuf], dice: &mut Dice, memory: Memory, count: usize) -> Answer {
    let expected = run(inputs, memory, "1x1", PIECES[0]);
    for _ in 0..count {
        let shape = SHAPES[dice.below(SHAPES.len())];
        let piece = PIECES[dice.below(PIECES.len())];
        let how = format!("{memory:?}, {shape}, pieces of {piece}");
        assert_same(&expected, &run(inputs, memory, shape, piece), &how);
    }
    expected
}

/// Random sizes of memory, shapes and pieces on everything at once that takes memory: floods of
/// connections, holes, unknown protocols, long requests and pipelined ones, bodies, scans, with
/// time-outs, in tunnels and fragments.
#[test]
fn storms_give_one_answer_whatever_the_memory() {
    let rounds = if corpus::is_long() { 200 } else { 5 };
    let mut met = BTreeMap::new();
    for seed in 0..rounds {
        let mut dice = Dice::new(seed);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("storm.pcap");
        std::fs::write(&path, storm(&mut dice)).unwrap();
        let memory = Memory::any(&mut dice, 7);
        let answer = check(&[path], &mut dice, memory, 3);
        for (name, count) in answer.losses {
            *met.entry(name).or_insert(0) += count;
        }
        if corpus::is_long() {
            eprintln!("storm {seed}: one answer");
        }
    }
    // Otherwise nothing would be shown.
    for loss in [
        Loss::ConnectionsEvicted,
        Loss::ReassemblyMemory,
        Loss::IdentifyMemory,
    ] {
        assert!(met.contains_key(loss.name()), "{} of {met:?}", loss.name());
    }
}

/// The same on recorded traffic: all bundled captures at once, and a mix of public ones.
#[test]
fn recorded_traffic_gives_one_answer_whatever_the_memory() {
    let mut dice = Dice::new(7);
    let least = Memory {
        bytes: 1 << 20,
        decodes: false,
    };
    check(&corpus::bundled(), &mut dice, least, 4);
    if let Some(shared) = corpus::shared_dir("memory on the mix trace") {
        let mix = [shared.join("corpus/mix/mix-dev.pcap")];
        let rounds = if corpus::is_long() { 40 } else { 2 };
        for _ in 0..rounds {
            let memory = Memory::any(&mut dice, 8);
            check(&mix, &mut dice, memory, 2);
        }
    }
}
