//! A scan is found in a flood of sources that ask once.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod support;

use flowpin_portscan::{Probe, ScanOptions, Steps};
use flowpin_record::{FloodKind, ScanKind, ScanMethod};
use support::{ALONE, Conn, Event, Pipeline, Random, SEC, T0, What, host};

/// `count` spoofed SYNs to one port over `span`, and amid them a scan of 1,000 ports by one
/// source. Reports must be true within 5 %, and what is held must stay within the caps.
fn scan_amid_flood(count: u64, span: u64) {
    let mut pipeline = Pipeline::new(ALONE, &ScanOptions::default());
    let mut random = Random(9);
    let mut port = 0;
    for number in 0..count {
        let time = T0 + number * span / count;
        let conn = Conn::new(random.next() as u32, host(2), 80, Probe::Syn);
        let what = What::Begins;
        pipeline.put_and_forget(&Event { time, conn, what });
        if number % (count / 1000) == 500 % (count / 1000) {
            port += 1;
            let conn = Conn::new(host(1), host(3), port, Probe::Syn);
            pipeline.put(&Event { time, conn, what });
            let what = What::Does(Steps::REFUSED);
            pipeline.put_and_forget(&Event { time, conn, what });
        }
    }
    assert!(
        pipeline.held_max <= 3 * 256 * (512 + 1024),
        "{}",
        pipeline.held_max
    );
    let records = pipeline.finish(T0 + span + 1);
    let ours = host(1).to_be_bytes().into();
    let scans = records.scans();
    let scan = scans
        .iter()
        .find(|scan| scan.source == core::net::IpAddr::V4(ours));
    let scan = scan.unwrap();
    assert_eq!(
        (scan.kind, scan.method),
        (ScanKind::Vertical, ScanMethod::Syn)
    );
    let near = |got: u64, true_count: u64, percent: u64| {
        let off = got.abs_diff(true_count) * 100;
        assert!(
            off <= true_count * percent,
            "{got} for {true_count}: {count} in {span} ns"
        );
    };
    for part in [scan.ports, scan.targets, scan.closed, scan.attempts] {
        near(part, 1000, 5);
    }
    assert_eq!((scan.hosts, scan.open, scan.source_count), (1, 0, 1));
    assert_eq!(scans.len(), 1, "nobody else scans: {scans:#?}");
    let floods = records.floods();
    assert_eq!(floods.len(), 1, "{floods:#?}");
    assert_eq!((floods[0].kind, floods[0].port), (FloodKind::Syn, Some(80)));
    near(floods[0].packets, count, 5);
    near(floods[0].source_count, count, 10);
}

/// A tenth of the full number, in one interval and over a minute.
#[test]
fn a_scan_amid_a_million_sources_is_found() {
    scan_amid_flood(1_000_000, SEC / 2);
    scan_amid_flood(1_000_000, 60 * SEC);
    scan_amid_flood(1_000_000, 3 * SEC);
}

/// The full number: seconds in a release build, a minute in a debug build.
#[test]
#[ignore = "takes a minute without optimisation: run with --release -- --ignored"]
fn a_scan_amid_ten_million_sources_is_found() {
    scan_amid_flood(10_000_000, SEC / 2);
    scan_amid_flood(10_000_000, 30 * SEC);
    scan_amid_flood(10_000_000, 10 * SEC);
    scan_amid_flood(10_000_000, 300 * SEC);
}
