//! When a connection ends, and when its records are due.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use flowpin_flow::{FlowOptions, Timeouts};
use flowpin_record::EndReason;
use support::{MS, Packet, Plan, SEC, T0, Talk, Trace, end, only, run};

fn trace(packets: &[(u64, Packet)]) -> Trace {
    let mut trace = Trace::default();
    for &(time, packet) in packets {
        trace.push(T0 + time, packet);
    }
    trace
}

/// A connection ends exactly at its deadline, detected by a packet or by a tick; a packet one
/// nanosecond earlier still belongs to it.
#[test]
fn a_connection_ends_exactly_at_its_deadline() {
    let packet = Packet::udp(end("10.0.0.9", 5000), end("10.0.0.2", 7), 30);
    let other = Packet::udp(end("10.0.0.8", 5000), end("10.0.0.2", 7), 30);
    for tick_every in [0, 1, 2] {
        let plan = Plan {
            tick_every,
            ..Plan::default()
        };
        let before = trace(&[(5, packet), (60 * SEC + 4, packet), (500 * SEC, other)]);
        let (records, _) = run(&before, &plan);
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].0.time.0, T0 + 120 * SEC + 4);
        assert_eq!(
            (records[0].0.number, records[0].1.reason),
            (1, EndReason::Timeout)
        );
        let at = trace(&[(5, packet), (60 * SEC + 5, packet), (500 * SEC, other)]);
        let (records, _) = run(&at, &plan);
        let times: Vec<_> = records.iter().map(|(key, _)| key.time.0 - T0).collect();
        // The input's end is one nanosecond after its last packet.
        assert_eq!(times, [60 * SEC + 5, 120 * SEC + 5, 500 * SEC + 1]);
    }
}

/// While time stands still a watermark by granules would delay all records. The exact one must come
/// after every record so far and before every later one, including those of the input's end.
#[test]
fn an_exact_tick_divides_the_records_of_one_moment() {
    use flowpin_flow::{ShardSet, Table};
    use flowpin_packet::Timestamp;
    use flowpin_record::RecordKey;
    let time = T0 + 1;
    let mut told = Trace::default();
    for nth in 0..200u32 {
        // The same ports again and again: each SYN ends the connection before it.
        let (client, server) = (end("10.0.0.9", 5000), end("10.0.0.2", 7));
        let seq = nth.wrapping_mul(0x1234_5678);
        told.push(time, Packet::tcp(client, server, "S", seq, 0, 0));
        told.push(
            time,
            Packet::tcp(server, client, "RA", 0, seq.wrapping_add(1), 0),
        );
    }
    let mut table = Table::new(&FlowOptions::default(), ShardSet::ALL).unwrap();
    let mut given = support::Records::default();
    let mut watermarks = Vec::new();
    for part in told.metas.chunks(40) {
        table.process(told.frames(), part, &mut given, &mut ());
        table.tick_exactly(Timestamp(time), &mut given, &mut ());
        let watermark = RecordKey {
            time: Timestamp(time),
            number: part.last().unwrap().number,
            ordinal: u32::MAX,
        };
        watermarks.push((given.0.len(), watermark));
    }
    table.finish(&mut given, &mut ());
    assert!(given.0.len() > 150, "{}", given.0.len());
    for (count, watermark) in watermarks {
        assert!(given.0[..count].iter().all(|(key, _)| *key <= watermark));
        assert!(given.0[count..].iter().all(|(key, _)| *key > watermark));
    }
}

/// The watermark is the last multiple of the granule before now: a packet of this very moment can
/// still cause a record of this moment.
#[test]
fn the_watermark_lies_before_now() {
    use flowpin_flow::{GRANULE_NS, ShardSet, Table};
    use flowpin_packet::Timestamp;
    let time = T0.next_multiple_of(GRANULE_NS);
    let syn = |seq| Packet::tcp(end("10.0.0.9", 5000), end("10.0.0.2", 7), "S", seq, 0, 0);
    let mut told = Trace::default();
    told.push(time, syn(1));
    told.push(time, syn(2));
    told.push(time + 5 * SEC, syn(3));
    let mut table = Table::new(&FlowOptions::default(), ShardSet::ALL).unwrap();
    let mut records = support::Records::default();
    table.process(told.frames(), &told.metas[..1], &mut records, &mut ());
    assert_eq!(
        table.tick(Timestamp(time), &mut records, &mut ()),
        Timestamp(time - GRANULE_NS)
    );
    table.process(told.frames(), &told.metas[1..2], &mut records, &mut ());
    assert_eq!(records.0[0].0.time.0, time);
    assert_eq!(
        table.tick(Timestamp(time + 1), &mut records, &mut ()),
        Timestamp(time)
    );
    // Due at a multiple: collected as soon as the watermark says so, not before.
    let due = (time + 5 * SEC).next_multiple_of(GRANULE_NS);
    table.tick(Timestamp(due), &mut records, &mut ());
    assert_eq!(records.0.len(), 1);
    table.tick(Timestamp(due + 1), &mut records, &mut ());
    assert_eq!(
        (records.0.len(), records.0[1].0.time.0),
        (2, time + 5 * SEC)
    );
    assert_eq!(
        table.tick(Timestamp(0), &mut records, &mut ()),
        Timestamp(due),
        "it never goes back"
    );
}

/// Closed connections end after a fixed delay, and their records say that they were closed.
#[test]
fn a_closed_connection_lingers_and_is_called_closed() {
    let mut talk = Talk::new();
    talk.steps(">S <SA >A >FA <FA");
    let closed_at = talk.time - MS;
    talk.steps("+3000 >A +6000");
    let other = Packet::udp(end("10.0.0.8", 5000), end("10.0.0.2", 7), 30);
    talk.push(other);
    let (records, counters) = run(&talk.trace, &Plan::default());
    assert_eq!(records[0].0.time.0, closed_at + 5 * SEC);
    assert_eq!(
        (records[0].1.reason, records[0].1.to_server.packets),
        (EndReason::Closed, 4)
    );
    assert_eq!(
        (counters.ended(EndReason::Closed), counters.created_total()),
        (1, 2)
    );
    // Zeek's duration ends with the second FIN, whatever comes after it.
    assert_eq!(records[0].1.open_until.0, closed_at);
    assert!(records[0].1.end.0 > closed_at + 3 * SEC);
}

/// The three sets of time-outs.
#[test]
fn each_tool_has_its_time_outs() {
    let ended_at = |timeouts: Timeouts, steps: &str| {
        let mut talk = Talk::new();
        talk.steps(steps);
        let last = talk.time - MS;
        talk.time += 5_000 * SEC;
        let other = Packet::udp(end("10.0.0.8", 5000), end("10.0.0.2", 7), 30);
        talk.push(other);
        let options = FlowOptions {
            timeouts,
            ..FlowOptions::default()
        };
        let (records, _) = run(
            &talk.trace,
            &Plan {
                options,
                ..Plan::default()
            },
        );
        let (key, record) = records
            .iter()
            .find(|(_, record)| record.protocol == 6)
            .unwrap();
        let lasted = (key.time.0 - last) / SEC;
        if record.reason == EndReason::EndOfInput {
            0
        } else {
            lasted
        }
    };
    let (open, closed) = (">S <SA >A", ">S <SA >A >FA <FA");
    assert_eq!(ended_at(Timeouts::Zeek, ">S"), 5);
    assert_eq!(ended_at(Timeouts::Zeek, ">S <SA"), 300);
    assert_eq!(ended_at(Timeouts::Zeek, open), 300);
    assert_eq!(ended_at(Timeouts::Zeek, closed), 5);
    assert_eq!(ended_at(Timeouts::Suricata, ">S"), 60);
    assert_eq!(ended_at(Timeouts::Suricata, ">S <SA"), 60);
    assert_eq!(ended_at(Timeouts::Suricata, open), 600);
    assert_eq!(ended_at(Timeouts::Suricata, closed), 60);
    assert_eq!(ended_at(Timeouts::None, open), 0);
    assert_eq!(ended_at(Timeouts::None, closed), 0);
}

/// Interim records fall due at multiples of the interval after the start, if packets came.
#[test]
fn interim_records_fall_due_at_multiples_of_the_interval() {
    let packet = Packet::udp(end("10.0.0.9", 5000), end("10.0.0.2", 7), 30);
    let other = Packet::udp(end("10.0.0.8", 5000), end("10.0.0.2", 7), 30);
    let told = trace(&[
        (0, packet),
        (9 * SEC, packet),
        (10 * SEC, packet),
        (55 * SEC, packet),
        (58 * SEC, packet),
        (300 * SEC, other),
    ]);
    for tick_every in [0, 1, 3] {
        let options = FlowOptions {
            interim_ns: Some(10 * SEC),
            ..FlowOptions::default()
        };
        let (records, counters) = run(
            &told,
            &Plan {
                options,
                tick_every,
                ..Plan::default()
            },
        );
        let told: Vec<_> = records
            .iter()
            .filter(|(key, _)| key.number == 1)
            .map(|(key, record)| {
                let packets = record.to_server.packets;
                (
                    (key.time.0 - T0) / SEC,
                    packets,
                    record.reason,
                    record.interim,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                (10, 2, EndReason::Interim, 1),
                (20, 3, EndReason::Interim, 2),
                (60, 5, EndReason::Interim, 3),
                (118, 5, EndReason::Timeout, 0),
            ]
        );
        assert_eq!(counters.ended_total(), 2);
    }
}

/// Timestamps may run backwards: the record's end is the latest, the deadline follows stream time.
#[test]
fn time_that_runs_backwards_does_not_shorten_a_connection() {
    let packet = Packet::udp(end("10.0.0.9", 5000), end("10.0.0.2", 7), 30);
    let told = trace(&[(10 * SEC, packet), (2 * SEC, packet), (69 * SEC, packet)]);
    let (_, record) = only(&told);
    assert_eq!(
        (record.start.0, record.end.0),
        (T0 + 10 * SEC, T0 + 69 * SEC)
    );
    assert_eq!(record.to_server.packets, 3);
}

/// Stream time does not follow the first packet after a gap of hours; the connection that it begins
/// continues all the same when the next one confirms the gap.
#[test]
fn a_connection_survives_the_gap_that_it_begins_after() {
    let before = Packet::udp(end("10.0.0.8", 5000), end("10.0.0.2", 7), 30);
    let packet = Packet::udp(end("10.0.0.9", 5000), end("10.0.0.2", 7), 30);
    let year = 365 * 86_400 * SEC;
    for tick_every in [0, 1] {
        let mut told = trace(&[(0, before)]);
        told.push_leaping(T0, year, packet);
        told.push(T0 + year + MS, packet);
        let (records, _) = run(
            &told,
            &Plan {
                tick_every,
                ..Plan::default()
            },
        );
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].0.time.0, T0 + 60 * SEC);
        assert_eq!(
            (records[1].1.to_server.packets, records[1].1.start.0),
            (2, T0 + year)
        );
    }
}
