//! Identifiers depend on the connection alone, so that a filter changes none; and no two are equal.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use flowpin_flow::FlowOptions;
use flowpin_packet::Timestamp;
use flowpin_record::Uid;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use support::{MS, Packet, Plan, SEC, T0, Trace, end, mix, run};

/// By number of the first packet.
fn uids(trace: &Trace, plan: &Plan) -> HashMap<u64, Uid> {
    let (records, _) = run(trace, plan);
    let uids: HashMap<_, _> = records
        .iter()
        .map(|(_, record)| (record.first_packet, record.uid))
        .collect();
    assert_eq!(uids.len(), records.len());
    uids
}

fn assert_distinct(uids: &HashMap<u64, Uid>) {
    let distinct: HashSet<_> = uids.values().collect();
    assert_eq!(distinct.len(), uids.len());
}

/// Connections of few keys, at close times that sometimes go back; each ends with RST.
fn build(begins: &[(u8, u8, u8, u16)]) -> Trace {
    let mut trace = Trace::default();
    let mut time = T0;
    for &(host, seq, back, wait) in begins {
        time += u64::from(wait) * MS;
        let at = time - u64::from(back % 4) * 3 * SEC;
        let (address, router) = match host {
            0..4 | 8.. => (format!("10.0.0.{host}"), "10.1.0.9"),
            _ => (format!("2001:db8::{host}"), "2001:db8::9"),
        };
        let (client, server) = (end(&address, 5000), end(router, 80));
        let syn = Packet::tcp(client, server, "S", u32::from(seq), 0, 0);
        trace.push(at, syn);
        trace.push(
            at,
            Packet::tcp(client, server, "R", u32::from(seq) + 1, 0, 0),
        );
    }
    trace
}

/// Only the packets of some hosts, renumbered like a capture of their own.
fn only(trace: &Trace, keep: impl Fn(usize) -> bool) -> (Trace, Vec<u64>) {
    let mut kept = trace.clone();
    kept.metas.clear();
    let mut stream_time = Timestamp(0);
    let mut old = Vec::new();
    for (nth, meta) in trace.metas.iter().enumerate().filter(|(nth, _)| keep(*nth)) {
        stream_time = stream_time.max(meta.time);
        let mut meta = *meta;
        old.push(nth as u64 + 1);
        meta.number = old.len() as u64;
        meta.stream_time = stream_time;
        kept.metas.push(meta);
    }
    (kept, old)
}

proptest! {
    /// No two connections share one, whatever times and numbers they share, for any number of
    /// tables, any ticks, and if a full table forgets; and these change none.
    #[test]
    fn identifiers_are_unique_and_the_same_for_every_shape(
        (hosts, memory_bytes) in prop_oneof![Just((6u8, 1 << 30)), Just((120, 0u64))],
        mut begins in prop::collection::vec((0u8..120, 0u8..3, 0u8..12, 0u16..3), 1..400),
    ) {
        begins.iter_mut().for_each(|(host, ..)| *host %= hosts);
        let mut trace = build(&begins);
        // All in one shard, which has room for some thirty.
        trace.metas.iter_mut().for_each(|meta| meta.hash &= 0xff_ffff);
        let options = FlowOptions { memory_bytes, ..FlowOptions::default() };
        let plan = Plan { options, ..Plan::default() };
        let all = uids(&trace, &plan);
        assert_distinct(&all);
        for (tables, batch, tick_every) in [(2, 7, 1), (3, 1, 5)] {
            let other = Plan { tables, batch, tick_every, ..plan };
            prop_assert_eq!(&uids(&trace, &other), &all);
        }
    }

    /// A capture of one host alone gives its connections the same identifiers as among others, if
    /// time does not go back.
    #[test]
    fn a_filter_changes_no_identifier(
        begins in prop::collection::vec((0u8..6, 0u8..3, Just(0u8), 0u16..2000), 1..100),
        host in 0u8..6,
    ) {
        let trace = build(&begins);
        let all = uids(&trace, &Plan::default());
        let (part, old) = only(&trace, |nth| begins[nth / 2].0 == host);
        for (number, uid) in uids(&part, &Plan::default()) {
            prop_assert_eq!(all[&old[number as usize - 1]], uid);
        }
    }
}

/// A capture that is read twice, one after the other: connections that the first half has forgotten
/// by then begin again at the same times, with the same numbers.
#[test]
fn a_capture_appended_to_itself_has_distinct_identifiers() {
    for hosts in [1u32, 200] {
        let mut trace = Trace::default();
        for _ in 0..3 {
            for nth in 0..hosts * 3 {
                let time = T0 + u64::from(nth) * 20 * SEC;
                let client = end(
                    &format!("10.0.{}.{}", nth % hosts / 250, nth % hosts % 250),
                    9,
                );
                let server = end("10.9.0.1", 80);
                trace.push(
                    time,
                    Packet::tcp(client, server, "S", mix(nth.into()) as u32, 0, 0),
                );
                trace.push(time, Packet::udp(client, server, 40).fingerprint(nth + 1));
            }
        }
        let all = uids(&trace, &Plan::default());
        assert!(all.len() >= 6 * hosts as usize, "{}", all.len());
        assert_distinct(&all);
        for (tables, tick_every) in [(3, 1), (2, 17)] {
            let plan = Plan {
                tables,
                tick_every,
                ..Plan::default()
            };
            assert_eq!(uids(&trace, &plan), all);
        }
    }
}

/// Same addresses and ports, same time: the sequence number (and the other fields that identify the
/// first packet) distinguishes the second connection, as it would alone.
#[test]
fn the_first_packet_tells_connections_of_one_moment_apart() {
    let (client, server) = (end("10.0.0.9", 5000), end("10.0.0.2", 80));
    let mut trace = Trace::default();
    for seq in [10, 77] {
        trace.push(T0, Packet::tcp(client, server, "S", seq, 0, 0));
        trace.push(T0, Packet::tcp(client, server, "R", seq + 1, 0, 0));
    }
    let all = uids(&trace, &Plan::default());
    assert_eq!(all.len(), 2);
    for half in 0..2 {
        let (alone, old) = only(&trace, |nth| nth / 2 == half);
        let uids = uids(&alone, &Plan::default());
        assert_eq!(uids.len(), 1);
        assert_eq!(uids[&1], all[&old[0]]);
    }
    // Without these, the time distinguishes them.
    let plain = |time| {
        let mut trace = Trace::default();
        trace.push(time, Packet::udp(client, server, 40));
        uids(&trace, &Plan::default())[&1]
    };
    assert_ne!(plain(T0), plain(T0 + 1));
    assert_eq!(plain(T0), plain(T0));
}

/// The identification is in the fingerprint: it counts, too.
#[test]
fn the_identification_counts() {
    let (client, server) = (end("10.0.0.9", 5000), end("10.0.0.2", 53));
    let one = |fingerprint| {
        let mut trace = Trace::default();
        trace.push(T0, Packet::udp(client, server, 40).fingerprint(fingerprint));
        uids(&trace, &Plan::default())[&1]
    };
    assert_ne!(one(1), one(2));
}
