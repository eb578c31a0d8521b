//! Hours without a packet: what comes after them is new, with and without a filter, whatever the
//! pieces, in one file and in two.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

use flowpin_config::{Format, Input, Plan};
use flowpin_engine::Control;
use flowpin_testkit::build::Ip;
use flowpin_testkit::pcap::ethernet_file;
use std::fs;
use std::path::Path;

const MINUTE: u64 = 60_000_000_000;
const START: u64 = 1_700_000_000_000_000_000;

/// A question and its answer between the same ports, as often as that.
fn lonely(at: impl Iterator<Item = u64>) -> Vec<(u64, Vec<u8>)> {
    let to = Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]);
    let both = |at: u64| {
        let question = to.udp(40_000, 53, b"question").ethernet();
        let answer = to.reversed().udp(53, 40_000, b"answer").ethernet();
        [(at, question), (at + 1_000_000, answer)]
    };
    at.flat_map(both).collect()
}

/// Other traffic.
fn busy(at: impl Iterator<Item = u64>) -> Vec<(u64, Vec<u8>)> {
    let other = Ip::v4([10, 0, 0, 3], [10, 0, 0, 4]);
    let frame = other.udp(1, 2, &[0; 300]).ethernet();
    at.map(|at| (at, frame.clone())).collect()
}

fn write(path: &Path, mut frames: Vec<(u64, Vec<u8>)>) {
    frames.sort();
    let frames = frames
        .iter()
        .map(|(at, frame)| (START + at, frame.as_slice()));
    fs::write(path, ethernet_file(frames).unwrap()).unwrap();
}

/// The records of the connection with the question, without numbers of packets.
fn records(folder: &Path, inputs: &[&str], filter: &str, piece_bytes: usize) -> Vec<String> {
    let mut plan = Plan {
        inputs: inputs
            .iter()
            .map(|name| Input::File(folder.join(name)))
            .collect(),
        filter: filter.to_owned(),
        piece_bytes,
        ..Plan::default()
    };
    plan.identify.enabled = false;
    plan.output.formats = vec![Format::ZeekTsv];
    plan.output.dir = folder.join("out");
    plan.output.replace = true;
    flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    let log = fs::read_to_string(folder.join("out/conn.log")).unwrap();
    let lines = log
        .lines()
        .filter(|line| line.contains("10.0.0.1\t40000\t10.0.0.2"));
    let records: Vec<_> = lines.map(str::to_owned).collect();
    assert_eq!(
        log.matches("10.0.0.1").count(),
        records.len(),
        "never the other way round"
    );
    records
}

#[test]
fn what_comes_after_hours_is_a_new_connection() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let hours = || (0..5).map(|nth| nth * 90 * MINUTE);
    write(&folder.join("lonely.pcap"), lonely(hours()));
    let others = busy((0..600).map(|nth| nth * MINUTE));
    write(
        &folder.join("busy.pcap"),
        [lonely(hours()), others].concat(),
    );
    let expected = records(folder, &["busy.pcap"], "", 256 << 10);
    assert_eq!(expected.len(), 5);
    for piece_bytes in [64, 100, 200, 256 << 10] {
        let alone = records(folder, &["lonely.pcap"], "", piece_bytes);
        assert_eq!(alone, expected, "{piece_bytes}");
        let filtered = records(folder, &["busy.pcap"], "port 53", piece_bytes);
        assert_eq!(filtered, expected, "{piece_bytes}");
    }
    write(&folder.join("first.pcap"), lonely(hours().take(2)));
    write(&folder.join("second.pcap"), lonely(hours().skip(2)));
    let divided = records(folder, &["second.pcap", "first.pcap"], "", 256 << 10);
    assert_eq!(divided, expected);
}

/// One packet with the time of another day neither ends connections nor stops time, wherever in a
/// piece it is.
#[test]
fn a_wrong_time_is_not_believed_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let to = Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]);
    let frames = (0..40_u64).map(|nth| {
        let at = if nth == 20 {
            9_000 * MINUTE
        } else {
            nth * 1_000_000
        };
        (START + at, to.udp(40_000, 53, &[0; 40]).ethernet())
    });
    let frames: Vec<_> = frames.collect();
    let frames = frames.iter().map(|(at, frame)| (*at, frame.as_slice()));
    fs::write(folder.join("wrong.pcap"), ethernet_file(frames).unwrap()).unwrap();
    let expected = records(folder, &["wrong.pcap"], "", 256 << 10);
    assert_eq!(expected.len(), 1);
    for piece_bytes in (64..400).step_by(7) {
        assert_eq!(
            records(folder, &["wrong.pcap"], "", piece_bytes),
            expected,
            "{piece_bytes}"
        );
    }
}
