//! Many captures read as one: whatever their number, and for any number of cores.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

use flowpin_config::{Format, Input, Plan};
use flowpin_engine::Control;
use flowpin_testkit::corpus::{bundled, workspace};
use flowpin_testkit::pcap::{Capture, Writer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const FILES: usize = 40;
const PIPELINES: [&str; 9] = [
    "1x1", "1x2", "1x3", "1x4", "1x7", "2x2", "2x7", "3x3", "3x7",
];

/// All logs of a run, by name.
fn run(
    inputs: &[PathBuf],
    pipeline: &str,
    change: impl Fn(&mut Plan),
) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = Plan {
        inputs: inputs.iter().cloned().map(Input::File).collect(),
        pipeline: pipeline.parse().unwrap(),
        ..Plan::default()
    };
    plan.output.dir = folder.path().join("logs");
    plan.output.formats = vec![Format::Eve, Format::ZeekTsv, Format::Csv];
    change(&mut plan);
    flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    let logs = std::fs::read_dir(&plan.output.dir).unwrap();
    let logs = logs.map(|log| log.unwrap().path());
    logs.map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read(path).unwrap())
    })
    .collect()
}

/// Deals the packets of a capture to so many files, in no order: fragments, segments and both
/// directions of a connection come from different files. Of pcap, which has no names of interfaces.
fn dealt(capture: &Path, folder: &Path, files: usize) -> Vec<PathBuf> {
    let capture = Capture::open(capture).unwrap();
    let mut files: Vec<_> = (0..files)
        .map(|_| Writer::new(Vec::new(), capture.link, true).unwrap())
        .collect();
    let mut state = 1_u32;
    for packet in &capture.packets {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let place = (state >> 16) as usize % files.len();
        let file = &mut files[place];
        let data = capture.data(packet);
        file.packet(packet.time_ns, packet.wire_len, data).unwrap();
    }
    let paths = files.into_iter().zip(0..).map(|(file, nth)| {
        let path = folder.join(format!("{nth:02}.pcap"));
        std::fs::write(&path, file.finish().unwrap()).unwrap();
        path
    });
    paths.collect()
}

/// A capture that was recorded in forty parts gives what it gives whole; and the same records for
/// each shape, with ample memory and with little.
#[test]
fn forty_parts_of_a_capture_give_what_it_gives_whole() {
    let capture = workspace().join("testkit/captures/lab-day.pcapng");
    let (one, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let parts = dealt(&capture, folder.path(), FILES);
    let whole = run(&dealt(&capture, one.path(), 1), "1x1", |_| ());
    assert!(whole["eve.json"].len() > 100_000);
    for pipeline in PIPELINES {
        assert!(run(&parts, pipeline, |_| ()) == whole, "{pipeline}");
    }
    let tight = |plan: &mut Plan| plan.memory_bytes = 16 << 20;
    let whole = run(&parts, "1x1", tight);
    for pipeline in PIPELINES {
        assert!(run(&parts, pipeline, tight) == whole, "{pipeline}, 16 MiB");
    }
}

/// Captures of all formats and kinds of link, compressed and not, in one run.
#[test]
fn captures_of_all_formats_are_read_together_in_every_shape() {
    let all = bundled();
    assert!(all.len() >= 30);
    let one = run(&all, "1x1", |_| ());
    for pipeline in PIPELINES {
        assert!(run(&all, pipeline, |_| ()) == one, "{pipeline}");
    }
}
