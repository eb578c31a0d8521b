//! Scans without a line through them, slow ones, and those amid ordinary traffic.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod support;

use flowpin_portscan::{Probe, ScanOptions, Steps};
use flowpin_record::{EpisodeState, ScanKind, ScanMethod, ScanRecord};
use support::{ALONE, Conn, Event, Events, MS, Random, SEC, T0, host, records, run};

const SYN_ACK: Steps = Steps(Steps::ACCEPTED.0 | Steps::ANSWERED.0);
const USED: Steps = Steps(SYN_ACK.0 | Steps::WENT_ON.0 | Steps::CLIENT_DATA.0);
const CONNECTED: Steps = Steps(SYN_ACK.0 | Steps::WENT_ON.0);

fn only(events: &[Event]) -> ScanRecord {
    run(events, ALONE, &ScanOptions::default()).only_scan()
}

/// `hosts` by `ports`, in an order without a pattern, a probe every `step`.
fn grid(hosts: u32, ports: u16, step: u64, seed: u64) -> Events {
    let mut targets: Vec<_> = (0..hosts)
        .flat_map(|host| (0..ports).map(move |port| (host, port)))
        .collect();
    let mut random = Random(seed);
    for last in (1..targets.len()).rev() {
        targets.swap(last, random.below(last as u64 + 1) as usize);
    }
    let mut events = Events::default();
    for (time, (nth, port)) in (0..).map(|nth| T0 + nth * step).zip(targets) {
        let conn = Conn::new(host(1), host(100 + nth), 1000 + port, Probe::Syn);
        events.with(time, conn, Steps::REFUSED);
    }
    events
}

/// In every proportion, with true counts: also where no host and no port has a fifth of all, and
/// no pair of them a quarter.
#[test]
fn any_number_of_hosts_by_any_number_of_ports_is_a_scan() {
    for (hosts, ports) in [
        (20, 400),
        (400, 20),
        (6, 30),
        (30, 6),
        (7, 10),
        (10, 10),
        (12, 1),
        (1, 12),
        (3, 5),
        (100, 3),
        (3, 100),
    ] {
        for step in [MS / 10, 100 * MS] {
            let scan = records(grid(hosts, ports, step, 3)).only_scan();
            let all = u64::from(hosts) * u64::from(ports);
            let near = |got: u64, all: u64| got.abs_diff(all) * 20 <= all;
            let (wide, deep) = (u64::from(hosts), u64::from(ports));
            assert!(
                near(scan.targets, all) && near(scan.closed, all),
                "{scan:?}"
            );
            assert!(near(scan.hosts, wide) && near(scan.ports, deep), "{scan:?}");
            assert_eq!((scan.attempts, scan.open), (all, 0), "{hosts} {ports}");
        }
    }
}

/// A part of the pairs only, at random, or each host by another port.
#[test]
fn a_sparse_scan_is_told() {
    let mut random = Random(8);
    for (hosts, ports) in [(1000, 1000), (200, 60_000), (60_000, 50), (40, 1000)] {
        let mut events = Events::default();
        for number in 0..600 {
            let (whom, port) = (random.below(hosts) as u32, random.below(ports) as u16);
            let conn = Conn::new(host(1), host(100 + whom), port, Probe::Syn);
            let time = T0 + number * 50 * MS;
            events.with(
                time,
                conn,
                [Steps::REFUSED, Steps::NONE][number as usize % 2],
            );
        }
        let scan = records(events).only_scan();
        assert!(scan.targets >= 590, "{scan:?}");
    }
    let mut events = Events::default();
    for number in 0..200_u16 {
        let whom = host(100 + u32::from(number));
        let conn = Conn::new(host(1), whom, 2000 + number, Probe::Syn);
        events.begin(T0 + u64::from(number) * 100 * MS, conn);
    }
    let scan = records(events).only_scan();
    assert_eq!(scan.kind, ScanKind::Sparse);
    assert_eq!((scan.hosts, scan.ports, scan.filtered), (200, 200, 200));
}

/// One probe a minute, or five: told once, and as one scan to its end.
#[test]
fn slow_scans_are_told_once() {
    for (step, count) in [(15, 200), (60, 200), (300, 100)] {
        for vertical in [true, false] {
            let mut events = Events::default();
            for number in 0..count {
                let (whom, port) = if vertical {
                    (host(2), number as u16)
                } else {
                    (host(100 + number as u32), 22)
                };
                let conn = Conn::new(host(1), whom, port, Probe::Syn);
                events.begin(T0 + number * step * SEC, conn);
                // Others are about, so that the records are due in time.
                let conn = Conn::new(host(9), host(10), 80, Probe::Syn);
                events.with(T0 + number * step * SEC, conn.at_port(number as u16), USED);
            }
            let scan = only(&events.sorted());
            assert_eq!((scan.targets, scan.attempts), (count, count), "{step} s");
            let expected = [ScanKind::Horizontal, ScanKind::Vertical][usize::from(vertical)];
            assert_eq!(scan.kind, expected);
        }
    }
}

/// Beyond the long window nothing counts, and what is set shorter is.
#[test]
fn a_scan_slower_than_the_long_window_is_not_seen() {
    let mut events = Events::default();
    for number in 0..100 {
        let conn = Conn::new(host(1), host(2), number as u16, Probe::Syn);
        events.begin(T0 + number * 90 * SEC, conn);
    }
    let options = ScanOptions {
        long_window_ns: 600 * SEC,
        ..ScanOptions::default()
    };
    run(&events.sorted(), ALONE, &options).assert_quiet();
}

/// Connections before a scan and amid it are none of it: neither its method, nor its counts, nor
/// its beginning.
#[test]
fn ordinary_connections_do_not_colour_a_scan() {
    for pause in [SEC / 2, 20 * SEC, 200 * SEC] {
        let mut events = Events::default();
        let plain =
            |port: u16, from: u16| Conn::new(host(1), host(2), port, Probe::Syn).at_port(from);
        events.with(T0, plain(22, 1), CONNECTED);
        events.with(T0 + MS, plain(80, 2), USED);
        let start = T0 + pause;
        for port in 1..=1000_u16 {
            let steps = if matches!(port, 22 | 80) {
                SYN_ACK.with(Steps::ABORTED)
            } else {
                Steps::REFUSED
            };
            events.with(start + u64::from(port) * MS, plain(port, 40_000), steps);
            if port % 10 == 0 {
                let page = Conn::new(host(1), host(5), 443, Probe::Syn).at_port(port);
                events.with(start + u64::from(port) * MS, page, USED);
            }
        }
        let scan = records(events).only_scan();
        assert_eq!(
            (scan.method, scan.kind),
            (ScanMethod::Syn, ScanKind::Vertical)
        );
        assert_eq!((scan.first.0, scan.first_packet), (start + MS, 5));
        assert_eq!((scan.targets, scan.closed), (1000, 998));
        assert_eq!(scan.open, 2);
    }
}

/// A scan from a busy host: what it browses does not hide a hundred closed ports.
#[test]
fn a_busy_host_cannot_hide_a_scan() {
    let mut events = Events::default();
    for number in 0..2000_u32 {
        let page = Conn::new(host(1), host(500 + number % 300), 443, Probe::Syn);
        let page = page.at_port(number as u16);
        events.with(T0 + u64::from(number) * 100 * MS, page, USED);
    }
    for port in 1..=100_u16 {
        let conn = Conn::new(host(1), host(2), port, Probe::Syn);
        events.with(T0 + 50 * SEC + u64::from(port) * MS, conn, Steps::REFUSED);
        let conn = Conn::new(host(3), host(1000 + u32::from(port)), 22, Probe::Syn);
        events.begin(T0 + 50 * SEC + u64::from(port) * MS, conn);
        let page = Conn::new(host(3), host(4), 443, Probe::Syn).at_port(port);
        events.with(T0 + 50 * SEC + u64::from(port) * MS, page, USED);
    }
    let scans = records(events).scans();
    let kinds: Vec<_> = scans.iter().map(|scan| scan.kind).collect();
    assert_eq!(
        kinds,
        [ScanKind::Vertical, ScanKind::Horizontal],
        "{scans:#?}"
    );
}

/// Where every question counts, eleven targets are enough, whatever they answered.
#[test]
fn answered_questions_count_where_that_is_asked_for() {
    let mut events = Events::default();
    for number in 0..11_u32 {
        let conn = Conn::new(host(1), host(100 + number), 443, Probe::Syn);
        events.with(T0 + u64::from(number) * 20 * SEC, conn, USED);
    }
    let events = events.sorted();
    run(&events, ALONE, &ScanOptions::default()).assert_quiet();
    let options = ScanOptions {
        sensitive: true,
        ..ScanOptions::default()
    };
    let scan = run(&events, ALONE, &options).only_scan();
    assert_eq!((scan.targets, scan.open, scan.closed), (11, 11, 0));
}

/// A link that is down: a browser's hosts are silent, and nobody scans.
#[test]
fn silent_web_servers_are_no_scan() {
    for (port, probe) in [(443, Probe::Syn), (80, Probe::Syn), (443, Probe::Udp)] {
        for (hosts, steps, is_scan) in [
            (35, Steps::NONE, false),
            (35, Steps::REFUSED, true),
            (100, Steps::NONE, true),
        ] {
            let mut events = Events::default();
            for number in 0..hosts {
                let conn = Conn::new(host(1), host(100 + number), port, probe);
                events.with(T0 + u64::from(number) * SEC, conn, steps);
            }
            let found = records(events).scans().len() == 1;
            assert_eq!(found, is_scan, "{hosts} {probe:?} {port} {steps:?}");
        }
    }
}

/// What fails for a day, a little at a time, and does not scan.
#[test]
fn hosts_that_fail_now_and_then_give_no_alarm() {
    let mut random = Random(5);
    let mut events = Events::default();
    for minute in 0..1400_u64 {
        let time = T0 + minute * 60 * SEC;
        let far = 0x2000_0000 + random.next() as u32 % 0x1000_0000;
        let from = minute as u16;
        // A mail server: one in three of whose hosts is gone.
        let steps = [Steps::NONE, USED, USED][minute as usize % 3];
        events.with(time, Conn::new(host(1), far, 25, Probe::Syn), steps);
        // A monitor of 300 hosts, 60 of them down, and of 20 ports of one of them.
        let nth = host(3000 + (minute % 300) as u32);
        let steps = if minute % 5 == 0 { Steps::NONE } else { USED };
        events.with(
            time,
            Conn::new(host(2), nth, 5666, Probe::Syn).at_port(from),
            steps,
        );
        let alive = if minute % 5 == 0 {
            Steps::NONE
        } else {
            Steps::ANSWERED
        };
        events.with(
            time,
            Conn::new(host(2), nth, 0, Probe::Echo).at_port(from),
            alive,
        );
        // A gateway with clients behind it: pages, and what they look for in vain.
        for page in 0..4 {
            let conn = Conn::new(
                host(3),
                far ^ page,
                [80, 443][page as usize % 2],
                Probe::Syn,
            );
            events.with(time + u64::from(page) * SEC, conn.at_port(from), USED);
        }
        if minute % 4 == 0 {
            let port = [80, 443, 5222, 993][random.below(4) as usize];
            events.begin(time, Conn::new(host(3), far ^ 77, port, Probe::Syn));
        }
        // A peer, of whose peers three in four are gone.
        let port = random.next() as u16;
        let steps = if minute % 4 == 0 { USED } else { Steps::NONE };
        events.with(time, Conn::new(host(4), far, port, Probe::Syn), steps);
        // A client whose one server is down, and which asks and asks.
        events.begin(
            time,
            Conn::new(host(5), host(6), 8443, Probe::Syn).at_port(from),
        );
    }
    records(events).assert_quiet();
}

/// A peer-to-peer client at its start: no run of bad luck is a scan.
#[test]
fn a_peer_at_its_start_is_no_scanner() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut events = Events::default();
        for number in 0..1000 {
            let far = 0x2000_0000 + random.next() as u32 % 0x1000_0000;
            let port = if random.below(8) == 0 {
                6881
            } else {
                random.next() as u16
            };
            let works = random.below(100) < 18;
            let conn = Conn::new(host(2), far, port, Probe::Syn);
            events.with(
                T0 + number * 100 * MS,
                conn,
                if works { USED } else { Steps::NONE },
            );
            let conn = Conn::new(host(3), far, port, Probe::Udp);
            let steps = if works { Steps::ANSWERED } else { Steps::NONE };
            events.with(T0 + number * 100 * MS, conn, steps);
        }
        records(events).assert_quiet();
    }
}

/// A pause of minutes within a slow scan does not end it, one of hours does.
#[test]
fn a_slow_scan_is_over_after_some_of_its_own_pauses() {
    let mut events = Events::default();
    for number in 0..60_u64 {
        let conn = Conn::new(host(1), host(2), number as u16, Probe::Syn);
        events.begin(T0 + number * 120 * SEC, conn);
    }
    let late = Conn::new(host(7), host(8), 80, Probe::Syn);
    events.with(T0 + 60 * 120 * SEC + 7200 * SEC, late, USED);
    let records = run(&events.sorted(), ALONE, &ScanOptions::default());
    let over = records
        .scans
        .iter()
        .find(|(_, scan)| scan.state == EpisodeState::Over);
    let (key, scan) = over.unwrap();
    assert_eq!((scan.targets, records.scans().len()), (60, 1));
    let after = key.time.0 - scan.last.0;
    assert!((900 * SEC..1100 * SEC).contains(&after), "{after}");
}

/// Hosts that accept and talk amid a scan along a port are targets of it, the first one too; what
/// was used before, on another port, or long after is not.
#[test]
fn what_is_used_amid_a_scan_is_a_target() {
    for every in [3, 5, 20] {
        for count in [200, 5000_u32] {
            let mut events = Events::default();
            let ask =
                |whom, port, from| Conn::new(host(1), host(whom), port, Probe::Syn).at_port(from);
            events.with(T0, ask(90_000, 80, 1), USED);
            let start = T0 + 60 * SEC;
            for number in 0..count {
                let time = start + u64::from(number) * 100 * MS;
                let conn = ask(1000 + number, 80, 40_000);
                if number % every == 0 {
                    events.with(time, conn, USED);
                } else {
                    events.begin(time, conn);
                }
                if number % 10 == 0 {
                    events.with(time + MS, ask(9, 443, number as u16), USED);
                }
            }
            events.with(
                start + u64::from(count) * 100 * MS + 30 * SEC,
                ask(90_001, 80, 2),
                USED,
            );
            let scan = records(events).only_scan();
            let near = |got: u64, all: u32| got.abs_diff(all.into()) * 20 <= u64::from(all);
            let open = count.div_ceil(every);
            assert!(
                near(scan.targets, count) && near(scan.open, open),
                "{scan:?}"
            );
            assert!(near(scan.filtered, count - open), "{scan:?}");
            assert_eq!(scan.estimated, count > 2048);
            assert_eq!(scan.attempts, u64::from(count));
            let kind = (scan.kind, scan.method);
            assert_eq!(kind, (ScanKind::Horizontal, ScanMethod::Connect));
            assert_eq!(scan.first.0, start);
        }
    }
}

/// A mail server two of five of whose hosts are gone reaches the others all the time.
#[test]
fn a_mail_server_with_many_dead_hosts_is_quiet() {
    for share in [2, 3, 4] {
        for start in [0, 70, 140, 210, 280] {
            let mut events = Events::default();
            for number in 0..400_u32 {
                let time = T0 + u64::from(start + number * 2) * SEC;
                let conn = Conn::new(host(1), host(1000 + number), 25, Probe::Syn);
                if number % 10 < share {
                    events.begin(time, conn);
                } else {
                    events.with(time, conn, USED);
                }
            }
            records(events).assert_quiet();
        }
    }
}

/// Estimates too: never more targets than attempts, and as many as were found open, closed and
/// filtered.
#[test]
fn no_more_targets_than_attempts() {
    for (hosts, ports) in [(20, 400), (50, 50), (60, 60), (7, 900)] {
        for seed in 1..4 {
            let scan = records(grid(hosts, ports, 2 * MS, seed)).only_scan();
            assert!(scan.estimated && scan.targets <= scan.attempts, "{scan:?}");
            assert_eq!(scan.open + scan.closed + scan.filtered, scan.targets);
        }
    }
}
