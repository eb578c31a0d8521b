//! Records depend on the events alone.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod support;

use flowpin_portscan::{Probe, ScanOptions, Steps};
use flowpin_record::FloodKind;
use proptest::prelude::*;
use support::{Conn, Event, Events, MS, Plan, Random, SEC, T0, host, run};

/// Some traffic with scans, decoys, floods, floods beyond the caps, and pauses.
fn traffic(seed: u64, heavy: bool) -> Vec<Event> {
    let mut random = Random(seed);
    let mut events = Events::default();
    let mut time = T0 + random.below(SEC);
    for _ in 0..3 + random.below(4) {
        time += [MS, SEC, 40 * SEC, 400 * SEC][random.below(4) as usize];
        let (who, whom) = (
            host(random.below(4) as u32),
            host(100 + random.below(3) as u32),
        );
        let probe = PROBES[random.below(PROBES.len() as u64) as usize];
        let step = 1 + random.below(30 * MS);
        let heavy = heavy && random.below(2) == 0;
        let count = if heavy {
            300_000
        } else {
            50 + random.below(500)
        };
        let step = if heavy { step / 10_000 } else { step };
        let shape = random.below(9);
        for number in 0..count {
            let now = time + number * step;
            let low = number as u16;
            let conn = match shape {
                0 => Conn::new(who, whom, low, probe),
                1 => Conn::new(who, whom + number as u32, 80, probe),
                2 => Conn::new(who + (number % 3) as u32, whom, (number / 3) as u16, probe),
                3 => Conn::new(random.next() as u32, whom, 80, probe),
                4 => Conn::new(who, whom, 80, probe).at_port(low),
                // Every pair another; many sources, ports of one host; both at random.
                6 => Conn::new(who, whom + number as u32, low, probe),
                7 => Conn::new(who + (number * 7919 % 40) as u32, whom, low, probe),
                8 => Conn::new(
                    who,
                    whom + random.below(30) as u32,
                    random.below(200) as u16,
                    probe,
                ),
                _ => Conn::new(
                    who.wrapping_add((number % 2) as u32 * random.next() as u32),
                    whom,
                    low,
                    probe,
                ),
            };
            events.with(
                now,
                conn,
                Steps(random.next() as u16 & random.next() as u16),
            );
            if random.below(20) == 0 {
                let kind = FloodKind::ALL[random.below(5) as usize];
                events.run(now, conn, kind);
            }
        }
        time += count * step;
    }
    events.sorted()
}

const PROBES: [Probe; 9] = [
    Probe::Syn,
    Probe::Syn,
    Probe::Fin,
    Probe::Ack,
    Probe::Udp,
    Probe::Echo,
    Probe::IpProtocol,
    Probe::Stray,
    Probe::Reset,
];

fn same_for_all_plans(events: &[Event], options: &ScanOptions) -> usize {
    let plan = |workers, tick_every| Plan {
        workers,
        seed: workers as u64,
        tick_every,
    };
    let expected = run(events, plan(1, 100), options);
    for other in [plan(1, 7), plan(2, 1000), plan(3, 50), plan(7, 100_000)] {
        let got = run(events, other, options);
        assert_eq!(got, expected, "{other:?}");
    }
    let keys = expected.scans.iter().map(|(key, _)| *key);
    let keys: Vec<_> = keys
        .chain(expected.floods.iter().map(|(key, _)| *key))
        .collect();
    let unique: std::collections::BTreeSet<_> = keys.iter().collect();
    assert_eq!(unique.len(), keys.len(), "each record has its own key");
    expected.scans.len() + expected.floods.len()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// However shards are spread over workers and whenever ticks come, the records are the same.
    #[test]
    fn records_do_not_depend_on_workers_or_ticks(seed in any::<u64>()) {
        let options = ScanOptions {
            syn_rate: 30,
            udp_rate: 30,
            icmp_rate: 30,
            ack_rate: 30,
            rst_rate: 30,
            failures_min: 3 + (seed % 20) as u32,
            sensitive: seed % 4 == 0,
            ..ScanOptions::default()
        };
        same_for_all_plans(&traffic(seed, false), &options);
    }
}

/// Also beyond every cap; and there is something to compare.
#[test]
fn records_beyond_the_caps_do_not_depend_on_workers_either() {
    let mut records = 0;
    for seed in [1, 2] {
        records += same_for_all_plans(&traffic(seed, true), &ScanOptions::default());
    }
    assert!(records > 4, "{records}");
}
