//! A run in parts has the records of one run: for any cuts, any number of parts, and slices.

#![allow(clippy::unwrap_used, reason = "a test may stop here")]

mod divided;
mod rules;

use divided::{Rows, at_once, by_connection, splits};
use flowpin_config::Input;
use flowpin_engine::parts::Slice;
use flowpin_engine::{CapturedPacket, Control, PacketSink, Plan, RunError};
use flowpin_packet::Timestamp;
use flowpin_testkit::build::Ip;
use flowpin_testkit::{corpus, pcap};
use std::collections::BTreeSet;

#[derive(Default)]
struct Frames(Vec<(u64, Vec<u8>)>);

impl PacketSink for Frames {
    fn packet(&mut self, packet: &CapturedPacket<'_>) -> Result<(), RunError> {
        const ETHERNET: u16 = 1;
        let is_whole = packet.bytes.len() == packet.wire_len as usize;
        if packet.link == Some(ETHERNET) && is_whole {
            self.0.push((packet.time.0, packet.bytes.to_vec()));
        }
        Ok(())
    }
}

/// Every packet of the repository's captures in one: fragments, tunnels, scans, FTP, and pauses of
/// days between them.
fn everything() -> Vec<u8> {
    let plan = Plan {
        inputs: corpus::bundled().into_iter().map(Input::File).collect(),
        ..Plan::default()
    };
    let mut frames = Frames::default();
    flowpin_engine::packets(&plan, &mut frames, &Control::default(), &()).unwrap();
    // And broken ones between them, which belong to no connection.
    let broken = Ip::v4([10, 9, 0, 1], [10, 9, 0, 2]).packet(6, &[0; 8]);
    let broken = broken.ethernet();
    let frames = frames
        .0
        .iter()
        .enumerate()
        .flat_map(|(nth, (time, bytes))| {
            let broken = (nth % 60 == 0).then_some((*time, broken.as_slice()));
            broken.into_iter().chain([(*time, bytes.as_slice())])
        });
    pcap::ethernet_file(frames).unwrap()
}

/// Everything, and the plan of a run over it; its folder.
fn all_in_a_file() -> (Vec<u8>, Plan, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.pcap");
    let capture = everything();
    std::fs::write(&path, &capture).unwrap();
    let plan = Plan {
        inputs: vec![Input::File(path)],
        ..Plan::default()
    };
    (capture, plan, folder)
}

#[test]
fn parts_together_have_the_records_of_one_run() {
    let (capture, plan, _folder) = all_in_a_file();
    let whole = at_once(&plan);
    let tables = flowpin_engine::tables(&plan);
    let named = |name: &str| {
        tables
            .iter()
            .find(|table| table.name == name)
            .unwrap()
            .number
    };
    for name in ["conn", "http", "ftp", "scan", "tunnel", "weird"] {
        let number = named(name);
        assert!(whole.keys().any(|(table, _)| *table == number), "{name}");
    }
    for (split_len, parts) in [(20_000, 3), (300_000, 5)] {
        let splits = splits(&capture, split_len.min(capture.len()));
        let rows = by_connection(&plan, &splits, parts, &[]);
        assert_same(&plan, &whole, &rows, &format!("{parts} parts"));
    }
}

/// In two slices or many, wherever they begin: amid handshakes, requests, fragments, scans.
#[test]
fn slices_of_time_have_the_records_of_one_run() {
    let (capture, plan, _folder) = all_in_a_file();
    let whole = at_once(&plan);
    let splits = splits(&capture, 100_000);
    let times = seconds(&plan);
    let middle = times.len() / 2;
    // The first border, and the moments from one to the next.
    let mut cuts = vec![(1, usize::MAX), (middle, usize::MAX), (0, times.len() / 5)];
    if corpus::is_long() {
        cuts.extend((0..times.len()).step_by(3).map(|at| (at, usize::MAX)));
        cuts.extend([(1, 9), (3, 40), (0, 1), (middle, 1)]);
    }
    for (first, step) in cuts {
        let borders = times.iter().copied().skip(first).step_by(step);
        let borders: Vec<_> = borders.take(CUTS_MAX).collect();
        let rows = by_connection(&plan, &splits, 2, &borders);
        assert_same(&plan, &whole, &rows, &format!("slices at {borders:?}"));
    }
}

/// Borders of a run in this test.
const CUTS_MAX: usize = 40;

/// Where slices may begin: near every packet.
fn seconds(plan: &Plan) -> Vec<Timestamp> {
    let mut frames = Frames::default();
    flowpin_engine::packets(plan, &mut frames, &Control::default(), &()).unwrap();
    let times = frames
        .0
        .iter()
        .map(|(time, _)| Slice::border(Timestamp(*time)));
    let times: BTreeSet<_> = times.collect();
    times.into_iter().collect()
}

#[track_caller]
fn assert_same(plan: &Plan, whole: &Rows, rows: &Rows, what: &str) {
    let tables = flowpin_engine::tables(plan);
    let name = |table: usize| {
        let found = tables.iter().find(|one| one.number == table);
        found.map(|one| &one.name)
    };
    let more_than = |these: &Rows, those: &Rows| {
        let found = these
            .iter()
            .find(|(row, count)| those.get(*row) != Some(*count));
        found.map(|(row, _)| (name(row.0).cloned(), row.1.clone()))
    };
    let (missing, more) = (more_than(whole, rows), more_than(rows, whole));
    let is_same = missing.is_none() && more.is_none();
    assert!(is_same, "{what} lack {missing:?}, and have {more:?}");
}
