//! What forms one connection, and which side is its client: UDP, ICMP, SCTP and protocols without
//! ports.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use flowpin_record::{ConnState, EndReason, FlowState};
use support::{Packet, Plan, SEC, T0, Trace, all, end, only, run};

fn trace(packets: &[(u64, Packet)]) -> Trace {
    let mut trace = Trace::default();
    for &(time, packet) in packets {
        trace.push(T0 + time, packet);
    }
    trace
}

/// UDP has no handshake: the first sender is the client, and the state says which sides sent.
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
    // Both are: in the order of arrival.
    let ntp = Packet::udp(end("10.0.0.9", 123), end("10.0.0.2", 123), 48);
    assert!(!only(&trace(&[(0, ntp)])).1.flipped);
    // A broadcast has no single host at its end.
    let dhcp = Packet::udp(end("10.0.0.2", 67), end("255.255.255.255", 68), 300);
    assert_eq!(only(&trace(&[(0, dhcp)])).1.history.as_str(), "D");
}

/// Request and reply with one identifier are one connection; types stand for ports.
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
/// adds no packets and does not extend its lifetime.
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

/// Errors about unknown connections form a one-way connection from router to host.
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

/// SCTP: the sender of INIT is the client; ABORT and SHUTDOWN COMPLETE end it.
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

/// An IPv6 key contains a digest without a secret: connections made to collide are kept apart.
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
