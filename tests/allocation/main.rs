//! No allocation per packet: a run over twice the packets of the same connections allocates no
//! more often than a run over them once.
//!
//! With TCP streams put in order, among them segments that must wait for others, and with scans
//! looked for. The scan detector hands over a summary of each interval of stream time, for which
//! it may allocate; so all captures here take the same time.
//!
//! In a program of its own, because it counts what the whole process allocates.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use flowpin_config::{Cut, Format, Input, Plan};
use flowpin_engine::Control;
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::fs;
use std::path::Path;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CONNECTIONS: u32 = 500;

/// Several intervals of the scan detector.
const SPAN_NS: u64 = 10_000_000_000;

/// A capture of the same connections with `rounds` exchanges on each: TCP, UDP, IPv6, tagged.
fn capture(rounds: u32) -> Vec<u8> {
    let mut frames = Vec::new();
    for round in 0..rounds {
        for nth in 0..CONNECTIONS {
            frames.push(frame(nth, round));
        }
    }
    let step = SPAN_NS / frames.len() as u64;
    let timed = frames.iter().zip(1u64..);
    ethernet_file(timed.map(|(frame, n)| (n * step, frame.as_slice()))).unwrap()
}

fn frame(nth: u32, round: u32) -> Vec<u8> {
    let [_, _, high, low] = nth.to_be_bytes();
    let port = 2000 + u16::from_be_bytes([high, low]);
    let ip = match nth % 3 {
        0 => Ip::v6(port, 2),
        _ => Ip::v4([10, 0, high, low], [10, 9, 9, 9]),
    };
    let is_back = round % 2 == 1;
    let way = if is_back { ip.reversed() } else { ip };
    if nth.is_multiple_of(2) {
        let (from, to) = if is_back { (53, port) } else { (port, 53) };
        return way.udp(from, to, &[7; 100]).ethernet();
    }
    let (from, to) = if is_back { (80, port) } else { (port, 80) };
    let (kind, seq, len) = match round {
        0 => (flags::SYN, 0, 0),
        1 => (flags::SYN | flags::ACK, 0, 0),
        _ => (flags::ACK, 1 + place(nth, round / 2 - 1) * 200, 200),
    };
    let tcp = Tcp::new(from, to, seq, 1 + (round.saturating_sub(1) / 2) * 200, kind);
    way.tcp(tcp, &vec![5; len]).tagged(&[7])
}

/// Which segment comes when: on every second TCP connection the second before the first, so that
/// it must wait.
const fn place(nth: u32, turn: u32) -> u32 {
    if nth % 4 == 1 { turn ^ 1 } else { turn }
}

/// How often the process allocates during a run.
fn allocations(capture: &Path, pipeline: &str, cut: Cut) -> usize {
    let mut plan = Plan {
        inputs: vec![Input::File(capture.to_owned())],
        pipeline: pipeline.parse().unwrap(),
        cut,
        dispatch_seed: Some(1),
        memory_bytes: 64 << 20,
        ..Plan::default()
    };
    plan.output.formats = vec![Format::None];
    let region = Region::new(ALLOCATOR);
    let report = flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    let count = region.change().allocations;
    assert_eq!(report.found.connections.total(), u64::from(CONNECTIONS));
    // Otherwise it would not be tested that these stages do not allocate.
    assert!(report.reassembly.out_of_order > 1000 && plan.scans.enabled);
    count
}

/// What the threads' timing may cost on a busy machine: one in a thousand packets would be more.
const FEW: usize = 32;

/// Long runs must not allocate more often than short ones (40,000 packets more, and no more than
/// a few allocations), on any thread: the pieces, batches,
/// tables and buffers of the start serve until the end.
#[test]
fn packets_cause_no_allocation() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [40u32, 80, 160].map(|rounds| {
        let path = folder.path().join(format!("{rounds}.pcap"));
        fs::write(&path, capture(rounds)).unwrap();
        path
    });
    for (pipeline, cut) in [
        ("1x1", Cut::L2),
        ("1x2", Cut::L2),
        ("2x1", Cut::L2),
        ("2x2", Cut::Capture),
    ] {
        // The first run also pays for what the process sets up once.
        allocations(&paths[2], pipeline, cut);
        let [short, middle, long] = paths
            .each_ref()
            .map(|path| allocations(path, pipeline, cut));
        println!("{pipeline}: {short}, {middle}, {long} allocations");
        // How many pieces and batches are under way at once depends on the threads' timing, too.
        assert!(long <= middle + FEW, "{pipeline}: {middle} against {long}");
        assert!(
            middle <= short + FEW,
            "{pipeline}: {short} against {middle}"
        );
    }
}
