//! What scan detection keeps of used connections is bounded, and what a scan lacks is counted.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod support;

use flowpin_counters::Loss;
use flowpin_portscan::{Probe, ScanOptions, Steps};
use support::{ALONE, Conn, Events, MS, Pipeline, SEC, T0, host};

const USED: Steps =
    Steps(Steps::ACCEPTED.0 | Steps::ANSWERED.0 | Steps::WENT_ON.0 | Steps::CLIENT_DATA.0);

/// A scan along a port, one of five hosts of which is used; amid it so many others use something.
fn scan(others: u32) -> (u64, bool) {
    let mut events = Events::default();
    let ask = |whom| Conn::new(host(1), host(whom), 80, Probe::Syn).at_port(40_000);
    for number in 0..100_u32 {
        let time = T0 + u64::from(number) * 3 * SEC;
        if number % 5 == 0 {
            events.with(time, ask(1000 + number), USED);
        } else {
            events.begin(time, ask(1000 + number));
        }
    }
    for number in 0..others {
        let time = T0 + 4 * SEC + u64::from(number) * 15 * SEC / u64::from(others) / MS * MS;
        let whose = Conn::new(host(2000 + number), host(9), 443, Probe::Syn);
        events.with(time, whose, USED);
    }
    let events = events.sorted();
    let mut pipeline = Pipeline::new(ALONE, &ScanOptions::default());
    events.iter().for_each(|event| pipeline.put(event));
    let (records, losses) = pipeline.finish_with_losses(events.last().unwrap().time + 1);
    let scan = records.only_scan();
    (losses.of(Loss::ScanUsedForgotten), scan.estimated)
}

#[test]
fn used_connections_of_a_scan_that_were_forgotten_are_counted() {
    assert_eq!(scan(1000), (0, false));
    // More than are kept of all sources together.
    let (forgotten, is_estimated) = scan(60_000);
    assert!((1..=5).contains(&forgotten) && is_estimated, "{forgotten}");
}
