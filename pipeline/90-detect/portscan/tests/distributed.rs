//! Scans of one host by many sources, each of which asks little; and what is none.

mod support;

use flowpin_portscan::{Probe, ScanOptions, Steps};
use flowpin_record::{EpisodeState, ScanKind};
use support::{ALONE, Conn, Events, MS, Plan, Random, SEC, T0, host, records, run};

const USED: Steps =
    Steps(Steps::ACCEPTED.0 | Steps::ANSWERED.0 | Steps::WENT_ON.0 | Steps::CLIENT_DATA.0);

/// `sources` share the ports from 1 to `ports` of one host.
fn shared(sources: u32, ports: u16, step: u64) -> Events {
    let mut events = Events::default();
    for port in 1..=ports {
        let who = host(1000 + u32::from(port).wrapping_mul(7919) % sources);
        let time = T0 + u64::from(port) * step;
        let conn = Conn::new(who, host(2), port, Probe::Syn);
        events.with(time, conn, Steps::REFUSED);
        // The host is no stranger: it has clients.
        let client = Conn::new(host(500), host(2), 443, Probe::Syn).at_port(port);
        events.with(time, client, USED);
    }
    events
}

#[test]
fn ports_shared_among_sources_are_one_scan() {
    for (sources, ports) in [(5, 40), (20, 100), (100, 500), (200, 200), (300, 3000)] {
        let scan = records(shared(sources, ports, 50 * MS)).only_scan();
        assert_eq!(scan.kind, ScanKind::Distributed);
        assert_eq!((scan.hosts, scan.open), (1, 0));
        let near = |got: u64, all: u64| got.abs_diff(all) * 10 <= all;
        assert!(near(scan.source_count, sources.into()), "{scan:?}");
        assert!(near(scan.ports, ports.into()), "{scan:?}");
        assert_eq!(
            scan.host_samples.as_slice(),
            [core::net::IpAddr::from([10, 0, 0, 2])]
        );
        assert_eq!(scan.source, scan.sources.as_slice()[0]);
    }
}

/// Two or more ports each, in any order and slowly, until the last one.
#[test]
fn few_ports_each_are_one_scan() {
    for (sources, each, step) in [
        (25, 2, 300 * MS),
        (40, 2, SEC),
        (20, 3, SEC),
        (50, 5, 5 * SEC),
    ] {
        for seed in 1..6 {
            let (mut random, mut events) = (Random(seed), Events::default());
            let mut ports: Vec<u32> = (0..sources * each).collect();
            ports.sort_by_cached_key(|_| random.next());
            for (number, port) in (0..).zip(&ports) {
                let conn = Conn::new(host(1000 + port / each), host(2), *port as u16, Probe::Syn);
                events.begin(T0 + number * step, conn);
            }
            let scan = records(events).only_scan();
            assert_eq!(scan.kind, ScanKind::Distributed);
            assert_eq!(
                scan.ports,
                u64::from(sources * each),
                "{sources} {each} {seed}"
            );
        }
    }
}

/// The same records for any division of the shards and any ticks, also beyond the caps on hosts.
#[test]
fn records_of_distributed_scans_do_not_depend_on_workers() {
    let mut random = Random(4);
    let mut events = shared(20, 100, 50 * MS);
    for number in 0..60_000_u64 {
        let (who, whom) = (
            random.next() as u32,
            host(1 << 16 | random.below(30_000) as u32),
        );
        let port = random.below(9) as u16;
        let time = T0 + number * 20 * SEC / 60_000;
        events.begin(time, Conn::new(who, whom, port, Probe::Syn));
    }
    let events = events.sorted();
    let plan = |workers, tick_every| Plan {
        workers,
        seed: workers as u64,
        tick_every,
    };
    let options = ScanOptions {
        ports_min: 8,
        ..ScanOptions::default()
    };
    let expected = run(&events, plan(1, 100), &options);
    let begun = |state: EpisodeState| state == EpisodeState::Begun;
    assert!(expected.scans.iter().any(|(_, scan)| begun(scan.state)));
    for other in [plan(2, 1000), plan(3, 10), plan(7, 50_000)] {
        assert_eq!(run(&events, other, &options), expected, "{other:?}");
    }
}

/// A service that is down, a gateway whose ports many peers know, spoofed floods, and one scanner
/// amid the rest: none of these is a scan by many.
#[test]
fn what_many_ask_in_vain_is_not_always_a_scan() {
    let mut random = Random(3);
    let mut events = Events::default();
    for number in 0..3000_u64 {
        let (who, time) = (random.next() as u32, T0 + number * 50 * MS);
        let port = [80, 443, 8080][number as usize % 3];
        events.with(
            time,
            Conn::new(who, host(2), port, Probe::Syn),
            Steps::REFUSED,
        );
        let peer = 20_000 + random.below(30) as u16 * 7;
        events.begin(time, Conn::new(who, host(3), peer, Probe::Syn));
        let late = Conn::new(who, host(4), random.next() as u16, Probe::Udp).at_port(53);
        events.begin(time, late);
    }
    records(events).assert_quiet();
    // A flood of SYNs to random ports.
    let mut events = Events::default();
    for number in 0..40_000_u64 {
        let conn = Conn::new(
            random.next() as u32,
            host(5),
            random.next() as u16,
            Probe::Syn,
        );
        events.begin(T0 + number * SEC / 5000, conn);
    }
    let records = records(events);
    assert!(
        records.scans.is_empty() && records.floods().len() == 1,
        "{records:#?}"
    );
}

#[test]
fn networks_can_be_allowed_to_be_scanned_by_many() {
    let options = ScanOptions {
        allow_targets: vec!["10.0.0.2/32".parse().unwrap_or_else(|_| unreachable!())],
        ..ScanOptions::default()
    };
    run(&shared(20, 100, 50 * MS).sorted(), ALONE, &options).assert_quiet();
}
