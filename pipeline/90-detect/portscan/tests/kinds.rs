//! Each kind and method is recognised from what it does; what fails without scanning is not.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod support;

use flowpin_portscan::{Probe, ScanOptions, Steps};
use flowpin_record::{EpisodeState, FloodKind, ScanKind, ScanMethod};
use support::{ALONE, Conn, Events, MS, Random, SEC, T0, host, records, run};

const SYN_ACK: Steps = Steps(Steps::ACCEPTED.0 | Steps::ANSWERED.0);

/// `ports` ports of one host, 10 ms apart.
fn vertical(probe: Probe, ports: u16, steps: impl Fn(u16) -> Steps) -> Events {
    let mut events = Events::default();
    for port in 1..=ports {
        let time = T0 + u64::from(port) * 10 * MS;
        events.with(time, Conn::new(host(1), host(2), port, probe), steps(port));
    }
    events
}

/// A SYN scan as nmap does it: an open port's SYN-ACK is answered with RST.
#[test]
fn a_syn_scan_is_told_by_its_resets() {
    let half_open = SYN_ACK.with(Steps::ABORTED);
    let scan = records(vertical(Probe::Syn, 1000, |port| match port {
        22 | 80 => half_open,
        port if port % 10 == 0 => Steps::NONE,
        _ => Steps::REFUSED,
    }))
    .only_scan();
    assert_eq!(
        (scan.kind, scan.method),
        (ScanKind::Vertical, ScanMethod::Syn)
    );
    assert_eq!((scan.hosts, scan.ports, scan.targets), (1, 1000, 1000));
    assert_eq!((scan.open, scan.closed, scan.filtered), (2, 899, 99));
    assert!(!scan.estimated && scan.attempts == 1000 && scan.source_count == 1);
    assert_eq!(scan.port_samples.as_slice(), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(
        (scan.first.0, scan.last.0),
        (T0 + 10 * MS, T0 + 10_000 * MS)
    );
}

/// A connect scan does the handshake where a port is open.
#[test]
fn a_connect_scan_is_told_by_its_handshakes() {
    let connected = SYN_ACK.with(Steps::WENT_ON).with(Steps::ABORTED);
    let scan = records(vertical(Probe::Syn, 100, |port| match port {
        80 => connected,
        _ => Steps::REFUSED,
    }))
    .only_scan();
    assert_eq!((scan.method, scan.open), (ScanMethod::Connect, 1));
}

/// RFC 9293 §3.10.7.1: a closed port answers these with RST, an open one with nothing.
#[test]
fn every_tcp_trick_has_its_name() {
    for (probe, method) in [
        (Probe::Fin, ScanMethod::Fin),
        (Probe::Null, ScanMethod::Null),
        (Probe::Xmas, ScanMethod::Xmas),
        (Probe::Maimon, ScanMethod::Maimon),
        (Probe::Ack, ScanMethod::Ack),
    ] {
        let refused = |port| {
            if port == 80 {
                Steps::NONE
            } else {
                Steps::REFUSED
            }
        };
        let scan = records(vertical(probe, 100, refused)).only_scan();
        assert_eq!((scan.method, scan.kind), (method, ScanKind::Vertical));
        assert_eq!((scan.closed, scan.filtered), (99, 1));
    }
}

/// UDP: a closed port is told by ICMP, an open one by an answer or not at all.
#[test]
fn a_udp_scan_is_told_by_icmp_errors() {
    let scan = records(vertical(Probe::Udp, 200, |port| match port {
        53 => Steps::ANSWERED,
        port if port % 4 == 0 => Steps::REFUSED,
        _ => Steps::NONE,
    }))
    .only_scan();
    assert_eq!(
        (scan.method, scan.closed, scan.filtered),
        (ScanMethod::Udp, 50, 149)
    );
}

#[test]
fn sctp_and_ip_protocol_scans_have_their_names() {
    let init = records(vertical(Probe::SctpInit, 50, |_| Steps::REFUSED)).only_scan();
    assert_eq!(init.method, ScanMethod::SctpInit);
    let cookie = records(vertical(Probe::SctpCookieEcho, 50, |_| Steps::NONE)).only_scan();
    assert_eq!(cookie.method, ScanMethod::SctpCookieEcho);
    let protocols = records(vertical(Probe::IpProtocol, 12, |_| Steps::NONE)).only_scan();
    assert_eq!(
        (protocols.method, protocols.ports),
        (ScanMethod::IpProtocol, 12)
    );
}

/// One port on many hosts, also where no port is open and nobody answers; a ping sweep too.
#[test]
fn a_horizontal_scan_spreads_over_hosts() {
    for (probe, port, method) in [
        (Probe::Syn, 22, ScanMethod::Syn),
        (Probe::Udp, 161, ScanMethod::Udp),
        (Probe::Echo, 0, ScanMethod::IcmpEcho),
    ] {
        let mut events = Events::default();
        for number in 0..200 {
            let conn = Conn::new(host(1), host(20 + number), port, probe);
            events.begin(T0 + u64::from(number) * 20 * MS, conn);
        }
        let scan = records(events).only_scan();
        assert_eq!((scan.kind, scan.method), (ScanKind::Horizontal, method));
        assert_eq!((scan.hosts, scan.ports), (200, 1));
    }
}

#[test]
fn a_block_scan_spreads_over_both() {
    let mut events = Events::default();
    for number in 0..20 {
        for port in 0..50 {
            let conn = Conn::new(host(1), host(100 + number), 1000 + port, Probe::Syn);
            let time = T0 + u64::from(number * 50 + u32::from(port)) * 5 * MS;
            events.with(time, conn, Steps::REFUSED);
        }
    }
    let scan = records(events).only_scan();
    assert_eq!(scan.kind, ScanKind::Block);
    assert_eq!((scan.hosts, scan.ports, scan.targets), (20, 50, 1000));
}

/// Several hosts with several ports each are a block, however few they are.
#[test]
fn two_hosts_with_many_ports_are_a_block() {
    for (hosts, ports) in [(2, 30), (4, 30), (30, 2), (3, 1000)] {
        let mut events = Events::default();
        for number in 0..hosts * ports {
            let whom = host(100 + number % hosts);
            let port = 1000 + (number / hosts) as u16;
            let time = T0 + u64::from(number) * 5 * MS;
            events.with(
                time,
                Conn::new(host(1), whom, port, Probe::Syn),
                Steps::REFUSED,
            );
        }
        assert_eq!(
            records(events).only_scan().kind,
            ScanKind::Block,
            "{hosts} {ports}"
        );
    }
}

/// Hosts that are asked for one of a few ports each are no block: no host has several.
#[test]
fn hosts_with_one_of_two_ports_each_are_horizontal() {
    let mut events = Events::default();
    for number in 0..60 {
        let port = if number % 2 == 0 { 22 } else { 23 };
        let conn = Conn::new(host(1), host(100 + number), port, Probe::Syn);
        let time = T0 + u64::from(number) * 5 * MS;
        events.with(time, conn, Steps::REFUSED);
    }
    let scan = records(events).only_scan();
    assert_eq!((scan.kind, scan.hosts), (ScanKind::Horizontal, 60));
}

/// The kind is the same when targets are no longer kept one by one: hosts that share no port are a
/// block as others are, and one host that has nearly all is not, whenever its turn comes.
#[test]
fn the_kind_is_the_same_beyond_the_exact_sets() {
    /// The host and the port of each attempt, by its number.
    type Target = fn(u32) -> (u32, u32);
    let one: Target = |number| match number.is_multiple_of(100) {
        true => (1 + number / 100, number),
        false => (0, number),
    };
    let late: Target = |number| match number {
        0..2500 => (1 + number, 22),
        _ => (0, number),
    };
    let cases: [(u32, Target, ScanKind); 5] = [
        (8000, |number| (number / 400, number), ScanKind::Block),
        (8000, |number| (number % 2, number), ScanKind::Block),
        (8000, one, ScanKind::Vertical),
        (40_000, late, ScanKind::Vertical),
        (
            8000,
            |number| (number, 22 + number % 2),
            ScanKind::Horizontal,
        ),
    ];
    for (nth, (count, target, kind)) in cases.into_iter().enumerate() {
        let mut events = Events::default();
        for number in 0..count {
            let (whom, port) = target(number);
            let conn = Conn::new(host(1), host(100 + whom), 1000 + port as u16, Probe::Syn);
            events.with(T0 + u64::from(number) * MS / 10, conn, Steps::REFUSED);
        }
        let all = records(events);
        let kinds: Vec<_> = all.scans.iter().map(|(_, scan)| scan.kind).collect();
        assert_eq!(kinds.last(), Some(&kind), "{nth}: {kinds:?}");
        if nth != 3 {
            assert!(kinds.iter().all(|one| *one == kind), "{nth}: {kinds:?}");
        }
    }
}

/// Beyond the exact sets the counts stay within 5 %.
#[test]
fn a_scan_of_all_ports_of_many_hosts_is_counted_within_five_percent() {
    let mut events = Events::default();
    for number in 0..60_000_u32 {
        let conn = Conn::new(
            host(1),
            host(2 + number % 10),
            (number / 10) as u16,
            Probe::Syn,
        );
        events.begin(T0 + u64::from(number) * MS, conn);
    }
    let scan = records(events).only_scan();
    assert!(scan.estimated && scan.ports == 6000, "{scan:?}");
    assert!(
        scan.targets.abs_diff(60_000) < 3000 && scan.hosts.abs_diff(10) <= 1,
        "{scan:?}"
    );
    assert!(
        scan.filtered.abs_diff(60_000) < 3000 && scan.attempts == 60_000,
        "{scan:?}"
    );
    assert!(scan.port_samples.as_slice().len() == 8);
}

/// Several sources that ask the same at the same time are one scan with decoys.
#[test]
fn decoys_are_one_scan() {
    let mut events = Events::default();
    for port in 1..=300_u16 {
        for decoy in 0..6 {
            let time = T0 + u64::from(port) * 10 * MS + u64::from(decoy) * 1000;
            events.begin(time, Conn::new(host(20 + decoy), host(2), port, Probe::Syn));
        }
    }
    let scan = records(events).only_scan();
    assert_eq!((scan.source_count, scan.sources.as_slice().len()), (6, 4));
    assert_eq!(scan.source.to_string(), "10.0.0.20");
    assert_eq!((scan.targets, scan.kind), (300, ScanKind::Vertical));
}

/// One alarm, one record for each window that it lasts, one when it is over.
#[test]
fn a_lasting_scan_is_updated_and_not_told_again() {
    let mut events = Events::default();
    for number in 0..2000 {
        let conn = Conn::new(host(1), host(100 + number), 23, Probe::Syn);
        events.begin(T0 + u64::from(number) * SEC / 2, conn);
    }
    let records = records(events);
    let states: Vec<_> = records.scans.iter().map(|(_, scan)| scan.state).collect();
    use EpisodeState::{Begun, Ongoing, Over};
    assert_eq!(
        states,
        [Begun, Ongoing, Ongoing, Ongoing, Over],
        "1000 s, window 300 s"
    );
    let uids: std::collections::BTreeSet<_> =
        records.scans.iter().map(|(_, scan)| scan.uid).collect();
    assert_eq!(uids.len(), 1);
    assert_eq!(records.only_scan().hosts, 2000);
}

/// Those on the allow list may scan, and be scanned.
#[test]
fn networks_can_be_allowed() {
    let events = vertical(Probe::Syn, 100, |_| Steps::REFUSED).sorted();
    let sources = vec!["10.0.0.1".parse().unwrap()];
    let targets = vec!["10.0.0.2/32".parse().unwrap()];
    for (allow_sources, allow_targets) in [(sources, vec![]), (vec![], targets)] {
        let options = ScanOptions {
            allow_sources,
            allow_targets,
            ..ScanOptions::default()
        };
        run(&events, ALONE, &options).assert_quiet();
    }
}

/// What ordinary hosts do, and fail at.
#[test]
fn ordinary_hosts_give_no_alarm() {
    let used = SYN_ACK.with(Steps::WENT_ON).with(Steps::CLIENT_DATA);
    let mut random = Random(5);
    let mut events = Events::default();
    for number in 0..3000 {
        let time = T0 + u64::from(number) * 30 * MS;
        let far = 0x2000_0000 + random.next() as u32 % 0x1000_0000;
        // A crawler, of whose sites one in four is gone.
        let steps = if number % 4 == 0 { Steps::NONE } else { used };
        events.with(time, Conn::new(host(1), far, 443, Probe::Syn), steps);
        // A peer-to-peer client, of whose peers four in five are gone; some use the usual port.
        let port = if number % 10 == 0 {
            6881
        } else {
            random.next() as u16
        };
        let steps = if number % 5 == 0 { used } else { Steps::NONE };
        events.with(time, Conn::new(host(2), far, port, Probe::Syn), steps);
        let steps = if number % 5 == 0 {
            Steps::ANSWERED
        } else {
            Steps::NONE
        };
        events.with(time, Conn::new(host(2), far, port, Probe::Udp), steps);
        // A resolver, of whose servers one in ten does not answer.
        let steps = if number % 10 == 0 {
            Steps::NONE
        } else {
            Steps::ANSWERED
        };
        events.with(time, Conn::new(host(3), far, 53, Probe::Udp), steps);
        // Health checks of 30 servers, half open, once a second each.
        let server = host(1000 + number % 30);
        let check = Conn::new(host(4), server, 8080, Probe::Syn).at_port(number as u16);
        events.with(time, check, SYN_ACK.with(Steps::ABORTED));
    }
    // Somebody traces a route: 90 ports of one host, most told by routers, some by nobody.
    for port in 0..90_u16 {
        let steps = if port % 6 == 0 {
            Steps::NONE
        } else {
            Steps::EXPIRED
        };
        let conn = Conn::new(host(5), host(9000), 33_434 + port, Probe::Udp);
        events.with(T0 + u64::from(port) * 50 * MS, conn, steps);
    }
    // A server whose clients' connections began before the capture closes them all.
    for client in 0..100_u16 {
        let conn = Conn::new(host(6), host(7), 40_000 + client, Probe::Maimon).at_port(80);
        events.begin(T0 + u64::from(client) * MS, conn);
    }
    records(events).assert_quiet();
}

/// Handshakes never done, from many sources or from one.
#[test]
fn a_syn_flood_is_told_with_rate_and_sources() {
    for sources in [5000_u64, 1] {
        let mut events = Events::default();
        for number in 0..50_000 {
            let source = 0x4000_0000 + (number % sources) as u32 * 7;
            let conn = Conn::new(source, host(2), 80, Probe::Syn).at_port(number as u16);
            events.begin(T0 + number * SEC / 10_000, conn);
        }
        let records = records(events);
        let floods = records.floods();
        assert!(
            records.scans.is_empty() && floods.len() == 1,
            "{records:#?}"
        );
        let flood = floods[0];
        assert_eq!((flood.kind, flood.port), (FloodKind::Syn, Some(80)));
        assert_eq!(flood.packets, 50_000);
        assert!(flood.peak_rate.abs_diff(10_000) < 100, "{flood:?}");
        assert!(
            flood.source_count.abs_diff(sources) <= sources / 8,
            "{flood:?}"
        );
    }
}

/// ACKs and RSTs that belong to no connection are a flood from any sources, also if the target
/// refuses them; those of connections that go on, as after the begin of a capture, are none.
#[test]
fn strays_are_a_flood_unless_they_go_on() {
    for (probe, kind) in [
        (Probe::Ack, FloodKind::Ack),
        (Probe::Stray, FloodKind::Ack),
        (Probe::Reset, FloodKind::Rst),
    ] {
        for (steps, is_flood) in [
            (Steps::NONE, true),
            (Steps::REFUSED, true),
            (Steps::ABORTED, true),
            (Steps::WENT_ON, false),
            (Steps::ANSWERED, false),
        ] {
            let mut events = Events::default();
            for number in 0..30_000_u64 {
                let source = 0x4000_0000 + (number % 3_000) as u32 * 7;
                let conn = Conn::new(source, host(2), 80, probe).at_port(number as u16 | 1 << 12);
                events.with(T0 + number * SEC / 10_000, conn, steps);
            }
            let records = records(events);
            let floods = records.floods();
            assert!(records.scans.is_empty(), "{records:#?}");
            let kinds: Vec<_> = floods.iter().map(|flood| flood.kind).collect();
            let expected: &[_] = if is_flood { &[kind] } else { &[] };
            assert_eq!(kinds, expected, "{probe:?} {steps:?}");
            for flood in floods {
                // An interval that is cut off at its end may have too few.
                assert!((25_000..=30_000).contains(&flood.packets), "{flood:?}");
                assert_eq!(flood.port, Some(80));
            }
        }
    }
}

/// Many packets of one connection are told in runs; ICMP is a flood though it is answered.
#[test]
fn floods_within_a_connection_are_told() {
    for (kind, probe, rate) in [
        (FloodKind::Icmp, Probe::Echo, 4_000),
        (FloodKind::Udp, Probe::Udp, 60_000),
        (FloodKind::Rst, Probe::Reset, 4_000),
    ] {
        let mut events = Events::default();
        let conn = Conn::new(host(1), host(2), 7, probe);
        events.begin(T0, conn);
        for number in 1..=rate * 5 / 256 {
            events.run(T0 + number * 256 * SEC / rate, conn, kind);
        }
        let records = records(events);
        let floods = records.floods();
        assert!(
            records.scans.is_empty() && floods.len() == 1,
            "{records:#?}"
        );
        assert_eq!((floods[0].kind, floods[0].source_count), (kind, 1));
        assert!(
            floods[0].packets.abs_diff(rate * 5) <= rate,
            "{:?}",
            floods[0]
        );
        assert!(
            floods[0].peak_rate.abs_diff(rate) <= rate / 4,
            "{:?}",
            floods[0]
        );
    }
}

/// A fast scan of one host is a scan, not also a flood.
#[test]
fn a_fast_scan_is_no_flood() {
    let mut events = Events::default();
    for port in 1..=60_000_u16 {
        let conn = Conn::new(host(1), host(2), port, Probe::Syn);
        events.begin(T0 + u64::from(port) * MS / 20, conn);
    }
    let scan = records(events).only_scan();
    assert!(scan.ports.abs_diff(60_000) < 3000, "{scan:?}");
}
