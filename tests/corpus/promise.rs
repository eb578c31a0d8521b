//! The first promise: the same bytes for any pipeline, for every run, for every dispatch secret,
//! also when caps evict and when clocks run wild; and the same summary, but for times and workers.
//! And the second: every packet accounted for.

use crate::records::number;
use flowpin_testkit::attack::Attack;
use flowpin_testkit::pcap::{Capture, ethernet_file};
use flowpin_testkit::{corpus, product, reorder};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What must change nothing. The first is the reference.
const SHAPES: &[&[&str]] = &[
    &["--pipeline", "1x1", "--seed", "1"],
    &["--pipeline", "1x1", "--seed", "1"],
    &["--pipeline", "1x1", "--seed", "7777"],
    &["--pipeline", "1x2"],
    &["--pipeline", "1x5", "--cut", "l3"],
    &["--pipeline", "2x1"],
    &["--pipeline", "2x2"],
    &["--pipeline", "2x3", "--cut", "capture"],
    &["--pipeline", "2x7", "--seed", "99"],
    &["--pipeline", "3x2", "--cut", "l3"],
];
const FORMATS: &str = "eve,zeek,zeek-json,csv,parquet";
/// So little memory and so long lives that shards fill up and evict: the least that is accepted.
const FULL: &[&str] = &["--memory", "1 MiB", "--timeouts", "none"];

type Files = BTreeMap<String, Vec<u8>>;

/// One run into a folder of its own: all files, if the input could be analysed.
///
/// # Errors
/// An exit code that is no answer, or packets that are not accounted for.
fn run(inputs: &[PathBuf], shape: &[&str], more: &[&str]) -> Result<Option<Files>, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut words: Vec<&str> = vec!["run", "--json"];
    if !more.contains(&"--format") {
        words.extend(["--format", FORMATS]);
    }
    for input in inputs {
        words.extend(["-r", input.to_str().unwrap()]);
    }
    words.extend(["-l", folder.path().to_str().unwrap()]);
    words.extend(shape);
    words.extend(more);
    let outcome = product::run(&words).unwrap();
    match outcome.code {
        0 | 4 => {}
        3 => return Ok(None),
        code => return Err(format!("exit code {code}: {}", outcome.stderr.trim())),
    }
    let summary = outcome.json().map_err(|error| error.to_string())?;
    let conservation = &summary["conservation"];
    let is_sound = conservation["missing"] == 0
        && conservation["received"] == summary["traffic"]["packets"]
        && number(&summary["losses"]["packets_misdirected"]) == 0;
    if !is_sound {
        return Err(format!("{conservation}\n{}", summary["losses"]));
    }
    let mut files = product::files(folder.path()).unwrap();
    files.insert("the summary".to_owned(), lasting(summary));
    Ok(Some(files))
}

/// What of a summary depends on the input alone.
fn lasting(mut summary: Value) -> Vec<u8> {
    let fields = summary.as_object_mut().unwrap();
    // The last: paths in a folder that is another for each run.
    for field in ["run", "workers", "steps", "outputs"] {
        fields.remove(field).unwrap();
    }
    serde_json::to_vec_pretty(&summary).unwrap()
}

/// The first difference, so that one sees what kind it is.
fn difference(reference: &Files, other: &Files) -> Option<String> {
    let names = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
    if names(reference) != names(other) {
        return Some(format!(
            "files {:?} and {:?}",
            names(reference),
            names(other)
        ));
    }
    let (name, bytes) = reference
        .iter()
        .find(|(name, bytes)| other[*name] != **bytes)?;
    let ours = String::from_utf8_lossy(bytes);
    let theirs = String::from_utf8_lossy(&other[name]);
    let lines = ours.lines().zip(theirs.lines()).enumerate();
    let first = lines
        .filter(|(_, (a, b))| a != b)
        .map(|(nth, pair)| (nth + 1, pair))
        .next();
    Some(format!(
        "{name}, {} and {} bytes: {first:#?}",
        bytes.len(),
        other[name].len()
    ))
}

/// All shapes, or one chosen by `turn`, against the reference; what went wrong goes to `failures`.
fn compare(inputs: &[PathBuf], turn: Option<usize>, more: &[&str], failures: &mut Vec<String>) {
    let of = inputs.first().map(|path| path.display().to_string());
    let what = format!("{} files, {}", inputs.len(), of.unwrap_or_default());
    let reference = match run(inputs, SHAPES[0], more) {
        Ok(Some(reference)) => reference,
        Ok(None) => return,
        Err(why) => {
            failures.push(format!("{what} {:?} {more:?}: {why}", SHAPES[0]));
            return;
        }
    };
    let rest = &SHAPES[1..];
    let chosen = match turn {
        Some(turn) => &rest[turn % rest.len()..][..1],
        None => rest,
    };
    for shape in chosen {
        let why = match run(inputs, shape, more) {
            Ok(Some(other)) => difference(&reference, &other),
            Ok(None) => Some("not analysed".to_owned()),
            Err(why) => Some(why),
        };
        failures.extend(why.map(|why| format!("{what} {shape:?} {more:?}: {why}")));
    }
}

/// Fails with all that went wrong.
fn assert_none(failures: &[String]) {
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} failures:\n{}",
        failures.join("\n")
    );
}

/// The captures that the promise is held to.
fn inputs() -> Vec<PathBuf> {
    let mut found = corpus::bundled();
    let public = corpus::captures(&["D ", "E ", "A mix"], "the promise on public captures");
    found.extend(public.into_iter().map(|capture| capture.path));
    found
}

/// Copies with shuffled timestamps, of those that the test kit reads.
fn shuffled(inputs: &[PathBuf], folder: &Path) -> Vec<PathBuf> {
    let plain = inputs.iter().enumerate().filter_map(|(nth, path)| {
        let file = fs::read(path).ok()?;
        let count = Capture::parse(file.clone()).ok()?.packets.len();
        // Some within a window, as a bad merge does it, some all over the file.
        let window = if nth % 2 == 0 { 50 } else { count.max(1) };
        let copy = folder.join(format!("{nth}.pcap"));
        fs::write(
            &copy,
            reorder::shuffle_times(file, window, nth as u64).ok()?,
        )
        .ok()?;
        Some(copy)
    });
    plain.collect()
}

/// Each capture alone: every shape in the long form, else one after the other in turn.
#[test]
fn each_capture_gives_the_same_bytes_for_any_pipeline() {
    let mut failures = Vec::new();
    for (nth, input) in inputs().into_iter().enumerate() {
        let turn = (!corpus::is_long()).then_some(nth);
        compare(std::slice::from_ref(&input), turn, &[], &mut failures);
        if corpus::is_long() {
            compare(&[input], turn, FULL, &mut failures);
        }
    }
    assert_none(&failures);
}

/// The bundled captures under every shape, as they are, with little memory and with wild clocks.
#[test]
fn bundled_captures_give_the_same_bytes_for_every_pipeline() {
    let mut failures = Vec::new();
    let inputs = corpus::bundled();
    let folder = tempfile::tempdir().unwrap();
    let shuffled = shuffled(&inputs, folder.path());
    for inputs in [&inputs, &shuffled] {
        compare(inputs, None, &["--interim", "1 s"], &mut failures);
        compare(inputs, None, FULL, &mut failures);
        for input in inputs {
            compare(std::slice::from_ref(input), Some(5), &[], &mut failures);
        }
    }
    assert_none(&failures);
}

/// All at once, as one stream merged by time: connections of a thousand captures compete for the
/// same shards, so caps evict, and every shape must evict the same.
#[test]
fn all_captures_as_one_stream_give_the_same_bytes_for_every_pipeline() {
    let mut failures = Vec::new();
    let readable: Vec<_> = inputs()
        .into_iter()
        .filter(|input| is_readable(input))
        .collect();
    compare(&readable, None, &[], &mut failures);
    compare(&readable, None, FULL, &mut failures);
    assert_none(&failures);
}

/// Whether the command can make anything of a file.
fn is_readable(input: &Path) -> bool {
    let words = ["run", "--json", "--format", "none", "-n", "1", "-r"];
    let outcome = product::run(&[&words[..], &[input.to_str().unwrap()]].concat());
    outcome.unwrap().analysed()
}

/// The same with timestamps shuffled: time-outs and evictions at every turn.
#[test]
fn shuffled_timestamps_give_the_same_bytes_for_every_pipeline() {
    let mut failures = Vec::new();
    let folder = tempfile::tempdir().unwrap();
    let shuffled = shuffled(&inputs(), folder.path());
    compare(&shuffled, None, &[], &mut failures);
    compare(&shuffled, None, &["--timeouts", "suricata"], &mut failures);
    compare(&shuffled, None, FULL, &mut failures);
    assert_none(&failures);
}

/// A capture with a flood of forged SYNs, two scans amid it, and lying streams.
fn attacked(folder: &Path, name: &str, attack: &Attack) -> PathBuf {
    let frames = attack.frames();
    let frames = frames.iter().map(|(time, frame)| (*time, frame.as_slice()));
    let path = folder.join(name);
    fs::write(&path, ethernet_file(frames).unwrap()).unwrap();
    path
}

/// What no worker sees alone: a scan whose connections are spread over all of them, amid a flood
/// that drives each shard beyond what it logs. And what makes records of its own: streams that
/// lie. From the first moment of time on, and later; with room, and without.
#[test]
fn attacks_give_the_same_bytes_for_every_pipeline() {
    let mut failures = Vec::new();
    let folder = tempfile::tempdir().unwrap();
    let csv = ["--format", "csv"];
    let attack = Attack::default();
    let early = Attack {
        start_ns: 0,
        ..attack
    };
    // More than 512 new connections a shard in one interval of about a second.
    let heavy = Attack {
        forged_sources: 160_000,
        span_ns: 900_000_000,
        ..attack
    };
    // A clock that never starts.
    let frozen = Attack {
        span_ns: 0,
        forged_sources: 5000,
        ..early
    };
    // More packets at one moment than may wait for its granule to end.
    let crowded = Attack {
        forged_sources: 90_000,
        ..frozen
    };
    for (name, attack) in [
        ("early", &early),
        ("heavy", &heavy),
        ("plain", &attack),
        ("frozen", &frozen),
        ("crowded", &crowded),
    ] {
        let input = attacked(folder.path(), name, attack);
        if attack.span_ns > 0 {
            let reference = run(std::slice::from_ref(&input), SHAPES[0], &csv).unwrap();
            assert_attacks_are_told(name, &reference.unwrap());
        }
        for more in [&csv[..], &[&csv[..], FULL].concat()] {
            compare(std::slice::from_ref(&input), None, more, &mut failures);
        }
    }
    assert_none(&failures);
}

/// Without these records the comparison would show nothing.
fn assert_attacks_are_told(name: &str, files: &Files) {
    for (file, words) in [
        ("scan.csv", "10.66.0.1,vertical,syn,1,"),
        ("scan.csv", "10.66.0.4,horizontal,syn,"),
        ("flood.csv", "over,10.66.0.3,syn,80,"),
        ("weird.csv", "overlap_differs"),
        ("weird.csv", "data_on_syn"),
        ("weird.csv", "data_after_close"),
        ("weird.csv", "checksum"),
    ] {
        let text = files.get(file).map(|bytes| String::from_utf8_lossy(bytes));
        let is_there = text.as_ref().is_some_and(|text| text.contains(words));
        assert!(is_there, "{name}: no {words} in {file}: {text:?}");
    }
}

/// A test that evicts nothing would not test evictions.
#[test]
fn little_memory_does_evict() {
    let folder = tempfile::tempdir().unwrap();
    let heavy = Attack {
        forged_sources: 160_000,
        ..Attack::default()
    };
    let input = attacked(folder.path(), "heavy", &heavy);
    let input = input.to_str().unwrap();
    let words = ["run", "--json", "--format", "none", "-r", input];
    let outcome = product::run(&[&words[..], FULL].concat()).unwrap();
    let summary = outcome.json().unwrap();
    assert!(
        number(&summary["losses"]["connections_evicted"]) > 0,
        "{summary}"
    );
}
