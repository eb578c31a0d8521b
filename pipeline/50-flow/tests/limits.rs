//! Caps: memory is bounded, the stalest connections are evicted, and that is counted.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use flowpin_counters::Loss;
use flowpin_flow::{FlowOptions, ShardSet, Table};
use flowpin_packet::{PacketFlags, Shard};
use flowpin_record::EndReason;
use support::{End, MS, Packet, Plan, Records, SEC, T0, Trace, end, mix, run};

/// A host's SYN; hosts differ in address and port.
fn syn(host: u64) -> Packet {
    let from = End(
        core::net::Ipv4Addr::from(host as u32).into(),
        (host >> 32) as u16,
    );
    Packet::tcp(from, end("192.0.2.1", 80), "S", host as u32, 0, 0)
}

const LITTLE: FlowOptions = FlowOptions {
    timeouts: flowpin_flow::Timeouts::Zeek,
    interim_ns: None,
    observer_bytes: 0,
    memory_bytes: 0,
    id_seed: 0,
};

/// A flood fills every shard to its cap and no further; each SYN has its record.
#[test]
fn a_flood_is_bounded_and_counted() {
    let mut trace = Trace::default();
    for host in 0..100_000 {
        trace.push(T0 + host * 1000, syn(mix(host)));
    }
    let (records, counters) = run(
        &trace,
        &Plan {
            options: LITTLE,
            ..Plan::default()
        },
    );
    assert_eq!(records.len(), 100_000);
    // 8 KiB per shard at a little over 200 bytes per connection.
    assert!(counters.live_max <= 256 * 40, "{}", counters.live_max);
    assert!(counters.live_max > 256 * 30, "{}", counters.live_max);
    let evicted = counters.ended(EndReason::Evicted);
    assert_eq!(counters.losses.of(Loss::ConnectionsEvicted), evicted);
    assert!(evicted > 85_000);
}

/// The connections that were idle longest are evicted: one that is in use stays.
#[test]
fn the_stalest_go_first() {
    let mut trace = Trace::default();
    let (host, server) = (end("10.0.0.1", 7000), end("10.0.0.2", 7001));
    for nth in 0..50_000 {
        let time = T0 + nth * 10_000;
        trace.push(time, syn(mix(nth)));
        // Each shard gets one SYN in 256: this connection is refreshed far more often than that.
        if nth % 64 == 0 {
            trace.push(time, Packet::udp(host, server, 1));
        }
    }
    let (records, _) = run(
        &trace,
        &Plan {
            options: LITTLE,
            ..Plan::default()
        },
    );
    let kept: Vec<_> = records
        .iter()
        .filter(|(_, record)| record.protocol == 17)
        .collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].1.reason, EndReason::EndOfInput);
    // The evicted ones are in the order of their arrival: each shard evicts its oldest.
    let evicted = records
        .iter()
        .filter(|(_, record)| record.reason == EndReason::Evicted);
    for (key, record) in evicted {
        let idle = key.time.0 - record.start.0;
        assert!(idle > 256 * 10 * 10_000, "evicted after {idle} ns only");
    }
}

/// Evicted records are keyed by the packet that needed the room, in order.
#[test]
fn evictions_are_keyed_by_their_cause() {
    let mut trace = Trace::default();
    for host in 0..20_000 {
        trace.push(T0 + host, syn(mix(host)));
    }
    let (records, _) = run(
        &trace,
        &Plan {
            options: LITTLE,
            ..Plan::default()
        },
    );
    for (key, record) in &records {
        if record.reason == EndReason::Evicted {
            assert_eq!(
                key.time.0 - T0 + 1,
                key.number,
                "time and number are one packet's"
            );
            assert!(key.number > record.first_packet && (1..=3).contains(&key.ordinal));
        }
    }
}

/// Connections with rare facts cost more, so fewer fit; the cap is in bytes.
#[test]
fn rare_facts_count_against_the_cap() {
    let live_max = |flag: Option<PacketFlags>| {
        let mut trace = Trace::default();
        for host in 0..40_000 {
            let packet = syn(mix(host));
            trace.push(T0 + host, flag.map_or(packet, |flag| packet.flag(flag)));
        }
        let (records, counters) = run(
            &trace,
            &Plan {
                options: LITTLE,
                ..Plan::default()
            },
        );
        assert_eq!(records.len(), 40_000);
        assert_eq!(counters.unplaced, 0);
        counters.live_max
    };
    assert!(live_max(Some(PacketFlags::SNAPPED)) < live_max(None) * 6 / 10);
}

/// More memory, more connections: nothing that fits is evicted.
#[test]
fn nothing_is_evicted_that_fits() {
    let mut trace = Trace::default();
    for host in 0..60_000 {
        trace.push(T0 + host * 1000, syn(mix(host)));
    }
    let options = FlowOptions {
        memory_bytes: 64 << 20,
        ..LITTLE
    };
    let (_, counters) = run(
        &trace,
        &Plan {
            options,
            ..Plan::default()
        },
    );
    assert_eq!(
        (counters.live_max, counters.ended(EndReason::Evicted)),
        (60_000, 0)
    );
}

/// A packet of another table's shard is counted and changes nothing.
#[test]
fn misdirected_packets_are_counted() {
    let mut trace = Trace::default();
    for host in 0..1000 {
        trace.push(T0, syn(mix(host)));
    }
    let shards: ShardSet = (0..100).map(Shard).collect();
    let mine = trace
        .metas
        .iter()
        .filter(|meta| meta.shard().0 < 100)
        .count() as u64;
    let mut table = Table::new(&LITTLE, shards).unwrap();
    table.process(
        trace.frames(),
        &trace.metas,
        &mut Records::default(),
        &mut (),
    );
    assert_eq!(
        (table.counters().misdirected, table.live()),
        (1000 - mine, mine)
    );
    assert_eq!(table.counters().losses.of(Loss::Misdirected), 1000 - mine);
}

/// A leap of the clock over years costs no work for each moment in between.
#[test]
fn leaps_of_the_clock_are_cheap() {
    let mut table = Table::new(&LITTLE, ShardSet::ALL).unwrap();
    let mut records = Records::default();
    let mut trace = Trace::default();
    let year = 365 * 86_400 * SEC;
    for nth in 0..200 {
        trace.push(T0 + nth * year, syn(nth));
        table.process(
            trace.frames(),
            &trace.metas[nth as usize..],
            &mut records,
            &mut (),
        );
        table.tick(trace.end(), &mut records, &mut ());
    }
    assert_eq!(records.0.len(), 199);
}

/// All memory is freed: a table that was emptied takes as many connections again.
#[test]
fn an_emptied_table_can_be_filled_again() {
    let mut table = Table::new(&LITTLE, ShardSet::ALL).unwrap();
    let mut records = Records::default();
    for round in 0..5 {
        let mut trace = Trace::default();
        for host in 0..5000 {
            let packet = syn(mix(host)).flag(PacketFlags::SNAPPED);
            trace.push(T0 + round * 400 * SEC + host * MS / 10, packet);
        }
        table.process(trace.frames(), &trace.metas, &mut records, &mut ());
        let before = table.counters().ended(EndReason::Evicted);
        assert_eq!(before, table.counters().losses.of(Loss::ConnectionsEvicted));
        table.tick(
            flowpin_packet::Timestamp(T0 + (round * 400 + 390) * SEC),
            &mut records,
            &mut (),
        );
        assert_eq!(table.live(), 0, "round {round}");
    }
    let evicted = table.counters().ended(EndReason::Evicted);
    assert_eq!(evicted % 5, 0, "each round is the same: {evicted}");
}
