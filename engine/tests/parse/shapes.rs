//! The same messages for every shape of the pipeline; none without parsers.

use crate::talk::{EXCHANGE, run, talk};
use flowpin_config::{Format, Input, Plan};
use flowpin_engine::Control;
use flowpin_testkit::pcap::ethernet_file;

/// The first promise, of messages too: all formats, the same bytes for every shape.
#[test]
fn messages_are_the_same_for_every_shape() {
    let mut frames: Vec<Vec<Vec<u8>>> = (1..30)
        .map(|host| talk(EXCHANGE, usize::from(host) * 7, host))
        .collect();
    // Taken in turns, so that connections overlap.
    let mut mixed = Vec::new();
    while frames.iter().any(|one| !one.is_empty()) {
        for one in &mut frames {
            if !one.is_empty() {
                mixed.push(one.remove(0));
            }
        }
    }
    let formats = [
        Format::Eve,
        Format::ZeekTsv,
        Format::ZeekJson,
        Format::Csv,
        Format::Parquet,
    ];
    let written = |pipeline: &str| {
        let folder = tempfile::tempdir().unwrap();
        let report = run(&mixed, pipeline, &formats, folder.path());
        assert_eq!(report.parse.connections, 29);
        let http = report.messages.iter().find(|kind| kind.name == "http");
        assert_eq!(http.unwrap().written, 58);
        [
            "eve.json",
            "http.log",
            "http.json",
            "http.csv",
            "http.parquet",
        ]
        .map(|file| std::fs::read(folder.path().join(file)).unwrap())
    };
    let reference = written("1x1");
    for pipeline in ["1x2", "1x3", "2x1", "2x2", "3x2"] {
        assert!(written(pipeline) == reference, "{pipeline}");
    }
}

/// Without parsers there are no messages and no files for them; protocols are told as before.
#[test]
fn parsing_can_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.pcap");
    let frames = talk(EXCHANGE, 2000, 1);
    let timed = frames.iter().zip(1u64..);
    let bytes = ethernet_file(timed.map(|(frame, n)| (n * 1000, frame.as_slice()))).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let mut plan = Plan {
        inputs: vec![Input::File(path)],
        ..Plan::default()
    };
    plan.parse.enabled = false;
    plan.output.formats = vec![Format::ZeekTsv];
    plan.output.dir = folder.path().to_owned();
    let report = flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    assert_eq!(report.parse.connections, 0);
    assert_eq!(report.found.connections.by_app["http"].connections, 1);
    assert!(!folder.path().join("http.log").exists());
}
