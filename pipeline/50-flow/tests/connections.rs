//! What is one connection, who is its client, when it ends: everything but TCP's states.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use flowpin_flow::{Event, FlowObserver, FlowOptions, NO_VLAN, Sighting, Timeouts};
use flowpin_packet::{FrameBytes, PacketFlags, PacketMeta};
use flowpin_record::{ConnState, EndReason, FlowState, TunnelKind, Uid};
use support::{MS, Packet, Plan, SEC, T0, Talk, Trace, all, end, only, run, run_observed};

fn trace(packets: &[(u64, Packet)]) -> Trace {
    let mut trace = Trace::default();
    for &(time, packet) in packets {
        trace.push(T0 + time, packet);
    }
    trace
}

/// UDP has no handshake: who sends first is the client, and who sent at all is the state.
#[test]
fn udp_states_tell_who_sent() {
    let (host, server) = (end("10.0.0.9", 5000), end("10.0.0.2", 53));
    let (up, down) = (Packet::udp(host, server, 30), Packet::udp(server, host, 90));
    let both = only(&trace(&[(0, up), (1, down), (2, up)])).1;
    assert_eq!(
        (both.conn_state, both.history.as_str()),
        (ConnState::SF, "Dd")
    );
    assert_eq!(both.flow_state, FlowState::Established);
    assert_eq!(
        (both.to_server.packets, both.to_client.payload_bytes),
        (2, 90)
    );
    assert_eq!(
        (both.to_server.stream_bytes, both.to_server.ip_bytes),
        (60, 140)
    );
    assert_eq!((both.client.port, both.server.port), (5000, 53));
    let one = only(&trace(&[(0, up)])).1;
    assert_eq!((one.conn_state, one.history.as_str()), (ConnState::S0, "D"));
    assert_eq!(one.flow_state, FlowState::New);
    // Only the source port is well known: turned and marked.
    let turned = only(&trace(&[(0, down)])).1;
    assert_eq!(
        (turned.conn_state, turned.history.as_str()),
        (ConnState::SHR, "^d")
    );
    assert!(turned.flipped && turned.server.port == 53);
    // Both are: as it came.
    let ntp = Packet::udp(end("10.0.0.9", 123), end("10.0.0.2", 123), 48);
    assert!(!only(&trace(&[(0, ntp)])).1.flipped);
    // A broadcast has no single host at its end.
    let dhcp = Packet::udp(end("10.0.0.2", 67), end("255.255.255.255", 68), 300);
    assert_eq!(only(&trace(&[(0, dhcp)])).1.history.as_str(), "D");
}

/// Request and reply of one identifier are one connection; types stand for ports.
#[test]
fn icmp_pairs_are_one_connection() {
    let ping = Packet::icmp("10.0.0.1", "10.0.0.2", (8, 0), 8, 77);
    let pong = Packet::icmp("10.0.0.2", "10.0.0.1", (0, 0), 8, 77);
    let other = Packet::icmp("10.0.0.1", "10.0.0.2", (8, 0), 8, 78);
    let records = all(&trace(&[(0, ping), (1, pong), (2, ping), (3, other)]));
    let [pair, lone] = records.as_slice() else {
        panic!("{records:#?}")
    };
    assert_eq!(
        (pair.client.port, pair.server.port, pair.icmp),
        (8, 0, Some((8, 0)))
    );
    assert_eq!((pair.to_server.packets, pair.to_client.packets), (2, 1));
    assert_eq!(
        (pair.conn_state, pair.history.as_str()),
        (ConnState::OTH, "")
    );
    assert_eq!(pair.flow_state, FlowState::Established);
    assert_eq!(lone.to_server.packets, 1);
    // Neighbour discovery, and a message without a counterpart.
    let ask = Packet::icmp("fe80::1", "ff02::1:ff00:2", (135, 0), 135, 0);
    let told = only(&trace(&[(0, ask)])).1;
    assert_eq!(
        (told.client.port, told.server.port, told.protocol),
        (135, 136, 58)
    );
    let odd = Packet::icmp("10.0.0.1", "10.0.0.2", (42, 3), 42, 3);
    let told = only(&trace(&[(0, odd)])).1;
    assert_eq!(
        (told.client.port, told.server.port, told.icmp),
        (42, 3, Some((42, 3)))
    );
}

/// An ICMP error counts on the connection that it quotes, in the direction of the quoted packet,
/// without adding to packets or lengthening its life.
#[test]
fn icmp_errors_count_on_the_connection_they_quote() {
    let (host, server) = (end("10.0.0.9", 5000), end("10.0.0.2", 7));
    let packet = Packet::udp(host, server, 30);
    let error = Packet::icmp_error("10.0.0.254", &packet, (3, 3));
    let told = trace(&[(0, packet), (59 * SEC, error), (59 * SEC + 1, error)]);
    let (records, counters) = run(&told, &Plan::default());
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].1.to_server.icmp_errors, 2);
    assert_eq!(
        (
            records[0].1.to_server.packets,
            records[0].1.to_client.packets
        ),
        (1, 0)
    );
    assert_eq!(counters.icmp_errors, 2);
    // At 60 s the connection has ended: the error is about an unknown one.
    let late = trace(&[(0, packet), (60 * SEC, error)]);
    let (records, _) = run(&late, &Plan::default());
    assert_eq!(records.len(), 2);
    assert_eq!(records[0].1.to_server.icmp_errors, 0);
    assert_eq!(
        (records[0].0.time.0, records[0].1.reason),
        (T0 + 60 * SEC, EndReason::Timeout)
    );
}

/// Errors about connections that nobody saw are a one-way connection from router to host.
#[test]
fn icmp_errors_about_unknown_connections_have_their_own() {
    for (host, server, router) in [
        ("10.0.0.9", "10.0.0.2", "10.0.0.254"),
        ("10.0.0.2", "10.0.0.9", "10.0.0.254"),
        ("2001:db8::9", "2001:db8::2", "2001:db8::fe"),
    ] {
        let packet = Packet::udp(end(host, 5000), end(server, 7), 30);
        let error = Packet::icmp_error(router, &packet, (3, 1));
        let told = trace(&[(0, error), (1, error), (2, packet), (3, error)]);
        let records = all(&told);
        let [own, quoted] = records.as_slice() else {
            panic!("{records:#?}")
        };
        assert_eq!(own.client.address.to_string(), router);
        assert_eq!(own.server.address.to_string(), host);
        assert_eq!((own.client.port, own.server.port), (3, 1));
        assert_eq!(own.protocol, if host.contains(':') { 58 } else { 1 });
        assert_eq!((own.to_server.packets, own.to_client.packets), (2, 0));
        assert_eq!((quoted.protocol, quoted.to_server.icmp_errors), (17, 1));
        assert_eq!(quoted.client.address.to_string(), host);
    }
}

/// SCTP: who sends INIT is the client; ABORT and SHUTDOWN COMPLETE end it.
#[test]
fn sctp_has_a_client_and_an_end() {
    let (a, b) = (end("10.0.0.1", 3000), end("10.0.0.2", 4000));
    let record = only(&trace(&[
        (0, Packet::sctp(b, a, 2)),
        (1, Packet::sctp(a, b, 10)),
        (2, Packet::sctp(b, a, 11)),
    ]))
    .1;
    assert_eq!(record.client.port, 3000);
    assert_eq!(
        (record.conn_state, record.history.as_str()),
        (ConnState::SF, "^dD")
    );
    let told = trace(&[
        (0, Packet::sctp(a, b, 1)),
        (1, Packet::sctp(b, a, 2)),
        (2, Packet::sctp(a, b, 14)),
        (3 * SEC, Packet::sctp(b, a, 1)),
    ]);
    let (records, _) = run(&told, &Plan::default());
    assert_eq!(
        (records[0].1.reason, records[0].1.flow_state),
        (EndReason::Reused, FlowState::Closed)
    );
    assert_eq!(records[1].1.client.port, 4000);
}

/// Other protocols: an address pair is a connection.
#[test]
fn other_protocols_are_pairs_of_addresses() {
    let there = Packet::other(50, "10.0.0.1", "10.0.0.2");
    let back = Packet::other(50, "10.0.0.2", "10.0.0.1");
    let gre = Packet::other(89, "10.0.0.1", "10.0.0.2");
    let records = all(&trace(&[(0, there), (1, back), (2, gre)]));
    let told: Vec<_> = records
        .iter()
        .map(|record| {
            (
                record.protocol,
                record.to_server.packets,
                record.to_client.packets,
            )
        })
        .collect();
    assert_eq!(told, [(50, 1, 1), (89, 1, 0)]);
    assert_eq!(records[0].conn_state, ConnState::OTH);
}

/// An IPv6 key holds a digest without a secret: connections made to collide are kept apart.
#[test]
fn colliding_ipv6_keys_are_kept_apart() {
    let server = end("2001:db8::ffff", 80);
    let mut told = Trace::default();
    for round in 0..3 {
        for host in 1..=5u16 {
            let client = end(&format!("2001:db8::{host:x}"), 4000);
            let mut packet = Packet::udp(client, server, u32::from(host));
            packet.digest = Some(42);
            told.push(T0 + round, packet);
        }
    }
    let records = all(&told);
    assert_eq!(records.len(), 5);
    for record in &records {
        assert_eq!(record.to_server.packets, 3);
        let host = record.client.address.to_string();
        assert_eq!(
            host,
            format!("2001:db8::{:x}", record.to_server.payload_bytes / 3)
        );
    }
}

/// A connection ends exactly at its deadline, found by a packet or by a tick; a packet one
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
        // The input's end is a nanosecond behind its last packet.
        assert_eq!(times, [60 * SEC + 5, 120 * SEC + 5, 500 * SEC + 1]);
    }
}

/// While time stands still a watermark by granules would hold all records back. The exact one must
/// lie behind every record so far and before every later one, also those of the input's end.
#[test]
fn an_exact_tick_divides_the_records_of_one_moment() {
    use flowpin_flow::{ShardSet, Table};
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
        let watermark = table.tick_exactly(flowpin_packet::Timestamp(time), &mut given);
        watermarks.push((given.0.len(), watermark));
    }
    table.finish(&mut given);
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
        table.tick(Timestamp(time), &mut records),
        Timestamp(time - GRANULE_NS)
    );
    table.process(told.frames(), &told.metas[1..2], &mut records, &mut ());
    assert_eq!(records.0[0].0.time.0, time);
    assert_eq!(
        table.tick(Timestamp(time + 1), &mut records),
        Timestamp(time)
    );
    // Due at a multiple: collected as soon as the watermark says so, not before.
    let due = (time + 5 * SEC).next_multiple_of(GRANULE_NS);
    table.tick(Timestamp(due), &mut records);
    assert_eq!(records.0.len(), 1);
    table.tick(Timestamp(due + 1), &mut records);
    assert_eq!(
        (records.0.len(), records.0[1].0.time.0),
        (2, time + 5 * SEC)
    );
    assert_eq!(
        table.tick(Timestamp(0), &mut records),
        Timestamp(due),
        "it never goes back"
    );
}

/// Closed connections end after a fixed delay, and are said to have closed.
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

/// A frame captured twice is told from one sent twice.
#[test]
fn duplicates_are_the_same_frame_within_50_ms() {
    let packet = Packet::udp(end("10.0.0.9", 5000), end("10.0.0.2", 7), 30).fingerprint(7);
    let back = Packet::udp(end("10.0.0.2", 7), end("10.0.0.9", 5000), 30).fingerprint(7);
    let unknown = packet.fingerprint(0);
    let duplicates = |packets: &[(u64, Packet)]| {
        let record = only(&trace(packets)).1;
        (record.to_server.duplicates, record.to_client.duplicates)
    };
    assert_eq!(
        duplicates(&[(0, packet), (MS, packet), (2 * MS, packet)]),
        (2, 0)
    );
    assert_eq!(
        duplicates(&[(0, packet), (MS, back), (2 * MS, packet), (3 * MS, back)]),
        (1, 1)
    );
    assert_eq!(duplicates(&[(0, packet), (60 * MS, packet)]), (0, 0));
    assert_eq!(
        duplicates(&[(0, packet), (MS, packet.fingerprint(8)), (2 * MS, packet)]),
        (0, 0)
    );
    assert_eq!(duplicates(&[(0, unknown), (MS, unknown)]), (0, 0));
}

/// Interim records fall due at multiples of the interval after the start, if anything came.
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

/// What the observer knows of the first packet is in the record; it is told of every packet.
#[test]
fn the_observer_is_asked_once_and_told_always() {
    #[derive(Default)]
    struct Watch {
        asked: u32,
        events: Vec<(u64, Event, bool)>,
        uids: Vec<Uid>,
    }
    impl FlowObserver for Watch {
        fn packet(&mut self, sighting: &Sighting<'_>) {
            self.events
                .push((sighting.meta.number, sighting.event, sighting.to_server));
            self.uids.push(sighting.uid);
        }
        fn vlans(&mut self, _: FrameBytes<'_>, _: &PacketMeta) -> [u16; 2] {
            self.asked += 1;
            [100, NO_VLAN]
        }
        fn tunnel(&mut self, _: FrameBytes<'_>, _: &PacketMeta) -> Option<(TunnelKind, Uid)> {
            self.asked += 1;
            Some((TunnelKind::Vxlan, Uid(9)))
        }
    }
    let (host, server) = (end("10.0.0.9", 5000), end("10.0.0.2", 7));
    let up = Packet::udp(host, server, 30)
        .flag(PacketFlags::VLAN)
        .flag(PacketFlags::TUNNELLED);
    let down = Packet::udp(server, host, 30).flag(PacketFlags::VLAN);
    let error = Packet::icmp_error("10.0.0.254", &down, (3, 3));
    let told = trace(&[(0, up), (1, down), (2, error), (3, up), (90 * SEC, up)]);
    let mut watch = Watch::default();
    let (records, _) = run_observed(&told, &Plan::default(), &mut watch);
    assert_eq!(watch.asked, 4);
    assert_eq!(
        watch.events,
        [
            (1, Event::New, true),
            (2, Event::Ongoing, false),
            (3, Event::IcmpError, false),
            (4, Event::Ongoing, true),
            (5, Event::New, true),
        ]
    );
    assert_eq!(records[0].1.vlans, [100, NO_VLAN]);
    assert_eq!(records[0].1.tunnel, Some((TunnelKind::Vxlan, Uid(9))));
    assert_eq!(watch.uids[..4], [records[0].1.uid; 4]);
    assert_eq!(watch.uids[4], records[1].1.uid);
    assert_ne!(records[0].1.uid, records[1].1.uid);
}

/// Cut and damaged packets are counted apart.
#[test]
fn cut_packets_are_counted() {
    let packet = Packet::udp(end("10.0.0.9", 5000), end("10.0.0.2", 7), 30);
    let told = trace(&[
        (0, packet.flag(PacketFlags::SNAPPED)),
        (1, packet),
        (
            2,
            packet
                .flag(PacketFlags::SNAPPED)
                .flag(PacketFlags::BAD_CHECKSUM),
        ),
    ]);
    let (records, counters) = run(&told, &Plan::default());
    let record = records[0].1;
    assert_eq!(
        (record.to_server.snapped, record.to_server.bad_checksums),
        (2, 1)
    );
    assert_eq!(
        (
            counters.snapped,
            counters.bad_checksums,
            record.to_server.packets
        ),
        (2, 1, 3)
    );
}

/// Timestamps may run backwards: the record's end is the latest, the deadline is the stream's.
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

/// Stream time does not follow the first packet behind a gap of hours; the connection that it
/// begins goes on all the same when the next one confirms the gap.
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

/// Addresses and ports may be the same on both sides.
#[test]
fn a_host_may_talk_to_itself() {
    let me = end("127.0.0.1", 99);
    let record = only(&trace(&[
        (0, Packet::udp(me, me, 1)),
        (1, Packet::udp(me, me, 1)),
    ]))
    .1;
    assert_eq!(
        (record.client, record.to_server.packets),
        (record.server, 2)
    );
}
