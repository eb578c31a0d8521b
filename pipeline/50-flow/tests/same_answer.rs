//! The first promise: the same records for any number of tables, any batches, any ticks, any
//! secret; and conservation.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use core::net::IpAddr;
use flowpin_flow::{FlowCounters, FlowOptions, Timeouts};
use flowpin_packet::PacketFlags;
use flowpin_record::{ConnRecord, EndReason, RecordKey};
use proptest::prelude::*;
use support::{End, MS, Packet, Plan, T0, Trace, mix, run};

/// A packet of a small world: few hosts and ports, so that connections are reused.
#[derive(Clone, Debug)]
struct Step {
    wait: u64,
    kind: u8,
    hosts: (u8, u8),
    ports: (u8, u8),
    flags: u8,
    numbers: (u8, u8),
    len: u8,
    marks: u8,
}

fn step() -> impl Strategy<Value = Step> {
    let wait = prop_oneof![
        6 => 0..20 * MS,
        2 => 0..3_000 * MS,
        1 => 0..90_000 * MS,
        // Exactly on deadlines and granules.
        1 => Just(5_000 * MS), 1 => Just(60_000 * MS), 1 => Just(flowpin_flow::GRANULE_NS),
    ];
    let flags = prop_oneof![
        3 => Just(0x10u8), 3 => Just(0x18), 2 => Just(0x02), 2 => Just(0x12), 2 => Just(0x11),
        1 => Just(0x04), 1 => any::<u8>(),
    ];
    let parts = (
        0u8..12,
        (0u8..6, 0u8..6),
        (0u8..4, 0u8..4),
        (0u8..8, 0u8..8),
        0u8..9,
        0u8..40,
    );
    (wait, flags, parts).prop_map(
        |(wait, flags, (kind, hosts, ports, numbers, len, marks))| Step {
            wait,
            kind,
            hosts,
            ports,
            flags,
            numbers,
            len,
            marks,
        },
    )
}

fn build(steps: &[Step], secret: u64, shuffled: bool) -> Trace {
    let mut trace = Trace {
        secret,
        ..Trace::default()
    };
    let mut time = T0;
    for (nth, step) in steps.iter().enumerate() {
        time += step.wait;
        let mut captured = time;
        if shuffled {
            captured -= mix(nth as u64) % (2_000 * MS);
        }
        match step.marks {
            7 => trace.push_leaping(captured, 7_200_000 * MS, packet(step)),
            8 => trace.push_leaping(captured, 4_000 * MS, packet(step)),
            _ => trace.push(captured, packet(step)),
        }
    }
    trace
}

fn packet(step: &Step) -> Packet {
    let v6 = step.kind % 4 == 3;
    let address = |host: u8| -> IpAddr {
        let text = if v6 {
            format!("2001:db8::{host}")
        } else {
            format!("10.0.0.{host}")
        };
        text.parse().unwrap()
    };
    let port = |port: u8| [80, 53, 40_000, 50_000][usize::from(port)];
    let from = End(address(step.hosts.0), port(step.ports.0));
    let to = End(address(step.hosts.1), port(step.ports.1));
    let len = u32::from(step.len) * 1000;
    let mut packet = match step.kind {
        0..=5 => {
            let (seq, ack) = (u32::from(step.numbers.0), u32::from(step.numbers.1));
            let mut packet = Packet::tcp(from, to, "A", seq * 1000, ack * 1000, len);
            packet.meta.tcp_flags.0 = step.flags;
            packet.window(u16::from(step.marks != 1))
        }
        6 | 7 => Packet::udp(from, to, len),
        8 => Packet::sctp(from, to, step.numbers.0 * 2),
        9 | 10 => Packet::icmp_error("10.9.9.9", &Packet::udp(from, to, len), (3, step.len)),
        _ => Packet::udp(from, to, len),
    };
    if packet.meta.kind == flowpin_packet::PacketKind::IcmpError && v6 {
        packet.router = Some("2001:db8::ffff".parse().unwrap());
    }
    // All collide as far as the address family allows.
    packet.digest = step.marks.is_multiple_of(5).then_some(1);
    packet = match step.marks {
        2 => packet.flag(PacketFlags::BAD_CHECKSUM),
        3 => packet.flag(PacketFlags::SNAPPED),
        4..=6 => packet.fingerprint(9),
        _ => packet,
    };
    packet
}

type Outcome = (Vec<(RecordKey, ConnRecord)>, FlowCounters);

fn conserved(trace: &Trace, (records, counters): &Outcome) {
    let last = records
        .iter()
        .filter(|(_, record)| record.reason != EndReason::Interim);
    let recorded: u64 = last
        .clone()
        .map(|(_, record)| record.to_server.packets + record.to_client.packets)
        .sum();
    let errors: u64 = last
        .clone()
        .map(|(_, record)| record.to_server.icmp_errors + record.to_client.icmp_errors)
        .map(u64::from)
        .sum();
    assert_eq!(counters.packets, trace.metas.len() as u64);
    assert_eq!(recorded + errors, counters.packets);
    assert_eq!(errors, counters.icmp_errors);
    assert_eq!(counters.created_total(), counters.ended_total());
    assert_eq!(last.count() as u64, counters.ended_total());
    assert_eq!(
        (counters.misdirected, counters.unplaced, counters.live),
        (0, 0, 0)
    );
}

/// Everything that must be the same: all except figures that sum peaks over tables.
fn same(left: &Outcome, right: &Outcome) {
    for (left, right) in left.0.iter().zip(&right.0) {
        assert_eq!(left, right);
    }
    assert_eq!(left.0.len(), right.0.len());
    let counters = |outcome: &Outcome| FlowCounters {
        live_max: 0,
        ..outcome.1.clone()
    };
    assert_eq!(counters(left), counters(right));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any packets, any settings: the records are the same for any division of the work.
    #[test]
    fn records_do_not_depend_on_how_the_work_is_divided(
        steps in prop::collection::vec(step(), 1..250),
        shuffled in any::<bool>(),
        timeouts in prop_oneof![
            Just(Timeouts::Zeek), Just(Timeouts::Suricata), Just(Timeouts::None),
        ],
        interim_ns in prop_oneof![Just(None), Just(Some(700 * MS)), Just(Some(20_000 * MS))],
        secret in any::<u64>(),
        tick_every in 1usize..20,
        batch in 1usize..40,
        exact_every in 0usize..4,
    ) {
        let options = FlowOptions { timeouts, interim_ns, ..FlowOptions::default() };
        let trace = build(&steps, 0, shuffled);
        let plain = run(&trace, &Plan { options, batch: 1, ..Plan::default() });
        conserved(&trace, &plain);
        let other = build(&steps, secret, shuffled);
        for tables in [1, 2, 3, 7] {
            let plan = Plan { options, tables, batch, tick_every, exact_every };
            let outcome = run(&other, &plan);
            conserved(&other, &outcome);
            same(&plain, &outcome);
        }
    }
}

/// Many connections in little memory, so that full shards evict all the time.
fn crowd(secret: u64, shuffled: bool) -> Trace {
    let mut trace = Trace {
        secret,
        ..Trace::default()
    };
    let mut time = T0;
    for nth in 0..60_000u64 {
        let word = mix(nth);
        time += word % (3 * MS);
        let step = Step {
            wait: 0,
            kind: (word >> 8) as u8 % 12,
            hosts: ((word >> 16) as u8, (word >> 24) as u8),
            ports: ((word >> 32) as u8 % 4, (word >> 34) as u8 % 4),
            flags: [0x02, 0x12, 0x10, 0x18, 0x11][(word >> 36) as usize % 5],
            numbers: ((word >> 40) as u8 % 8, (word >> 44) as u8 % 8),
            len: (word >> 48) as u8 % 9,
            marks: (word >> 56) as u8 % 40,
        };
        // Return to some, otherwise none would be stale and fresh by turns.
        let step = if nth % 3 == 0 {
            Step {
                hosts: (word as u8 % 4, (word >> 24) as u8 % 4),
                ..step
            }
        } else {
            step
        };
        let captured = if shuffled {
            time - mix(word) % (800 * MS)
        } else {
            time
        };
        match step.marks {
            7 => trace.push_leaping(captured, 7_200_000 * MS, packet(&step)),
            _ => trace.push(captured, packet(&step)),
        }
    }
    trace
}

/// The same with a table so small that it evicts, with ticks or without, whatever the secret.
#[test]
fn evictions_do_not_depend_on_how_the_work_is_divided() {
    for shuffled in [false, true] {
        for interim_ns in [None, Some(400 * MS)] {
            let options = FlowOptions {
                memory_bytes: 0,
                timeouts: Timeouts::Zeek,
                interim_ns,
                ..FlowOptions::default()
            };
            let trace = crowd(0, shuffled);
            let plain = run(
                &trace,
                &Plan {
                    options,
                    batch: 1,
                    ..Plan::default()
                },
            );
            conserved(&trace, &plain);
            let evicted = plain.1.ended(EndReason::Evicted);
            assert!(evicted > 5_000, "{evicted} evictions test nothing");
            for (tables, batch, tick_every, exact_every, secret) in [
                (1, 32, 700, 0, 5),
                (2, 7, 64, 3, 6),
                (3, 32, 0, 0, 7),
                (7, 31, 4096, 0, 8),
                (1, 32, 9, 1, 9),
            ] {
                let trace = crowd(secret, shuffled);
                let plan = Plan {
                    options,
                    tables,
                    batch,
                    tick_every,
                    exact_every,
                };
                let outcome = run(&trace, &plan);
                conserved(&trace, &outcome);
                same(&plain, &outcome);
            }
        }
    }
}
