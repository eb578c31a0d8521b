//! Other facts about connections: duplicates, cut packets, the reports to an observer.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use flowpin_flow::{Event, FlowObserver, FlowOptions, NO_VLAN, Sighting, Table};
use flowpin_packet::{FrameBytes, PacketFlags, PacketMeta, TunnelKind};
use flowpin_record::{ConnRecord, RecordKey, RecordSink, Uid};
use support::{MS, Packet, Plan, SEC, T0, Trace, end, only, run, run_observed};

fn trace(packets: &[(u64, Packet)]) -> Trace {
    let mut trace = Trace::default();
    for &(time, packet) in packets {
        trace.push(T0 + time, packet);
    }
    trace
}

/// A frame captured twice is distinguished from one sent twice.
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

/// Unfinished checksums are the same for all packets of a length, and IPv6 has no identification:
/// what differs otherwise is no duplicate, and datagrams, of which nothing is known, are none.
#[test]
fn unfinished_checksums_make_no_duplicates() {
    let (client, server) = (end("2001:db8::1", 5000), end("2001:db8::2", 80));
    let segment = Packet::tcp(client, server, "PA", 100, 7, 30);
    let next = Packet::tcp(client, server, "PA", 130, 7, 30);
    let bare = Packet::tcp(client, server, "A", 160, 7, 0);
    let later = Packet::tcp(client, server, "A", 160, 8, 0);
    let last = Packet::tcp(client, server, "FA", 160, 8, 0);
    let duplicates = |packets: &[(u64, Packet)]| only(&trace(packets)).1.to_server.duplicates;
    let all = [segment, next, bare, later, last].map(|packet| packet.fingerprint(7));
    let timed: Vec<_> = (0..).zip(all).collect();
    assert_eq!(duplicates(&timed), 0);
    let twice: Vec<_> = all.iter().flat_map(|&one| [(1, one), (1, one)]).collect();
    assert_eq!(duplicates(&twice), 5);
    let datagram = Packet::udp(client, server, 30).fingerprint(7);
    let unfinished = datagram.flag(PacketFlags::OFFLOADED_CHECKSUM);
    assert_eq!(duplicates(&[(0, datagram), (1, datagram)]), 1);
    assert_eq!(duplicates(&[(0, unfinished), (1, unfinished)]), 0);
}

/// The observer's answers about the first packet are in the record; it gets every packet.
#[test]
fn the_observer_is_asked_once_and_told_always() {
    #[derive(Default)]
    struct Watch {
        asked: u32,
        ended: Vec<Uid>,
        events: Vec<(u64, Event, bool)>,
        uids: Vec<Uid>,
    }
    impl FlowObserver for Watch {
        fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, _: &mut S) {
            self.events
                .push((sighting.meta.number, sighting.event, sighting.to_server));
            self.uids.push(sighting.uid());
        }
        fn ended<S: RecordSink>(
            &mut self,
            _: u32,
            record: &mut ConnRecord,
            _: RecordKey,
            _: &mut S,
        ) {
            self.ended.push(record.uid);
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
            (4, Event::Plain, true),
            (5, Event::New, true),
        ]
    );
    assert_eq!(records[0].1.vlans, [100, NO_VLAN]);
    assert_eq!(records[0].1.tunnel, Some((TunnelKind::Vxlan, Uid(9))));
    assert_eq!(watch.uids[..4], [records[0].1.uid; 4]);
    assert_eq!(watch.uids[4], records[1].1.uid);
    assert_ne!(records[0].1.uid, records[1].1.uid);
    assert_eq!(watch.ended, [records[0].1.uid, records[1].1.uid]);
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

/// The observer is asked to settle before any record of a connection is made: when it timed out,
/// was reused, was evicted, or had an interim record.
#[test]
fn an_observer_settles_before_each_record() {
    #[derive(Default)]
    struct Settler {
        waiting: u32,
        settled: u32,
        told: u32,
    }
    impl FlowObserver for Settler {
        fn packet<S: RecordSink>(&mut self, _: &Sighting<'_>, _: &mut S) {
            self.waiting += 1;
        }
        fn settle<S: RecordSink>(&mut self, _: &Table, _: &FrameBytes<'_>, _: &mut S) {
            self.settled += self.waiting;
            self.waiting = 0;
        }
        fn ended<S: RecordSink>(&mut self, _: u32, _: &mut ConnRecord, _: RecordKey, _: &mut S) {
            assert_eq!(self.waiting, 0, "settled before a connection ends");
            self.told += 1;
        }
        fn goes_on(&mut self, _: u32, _: &mut ConnRecord) {
            assert_eq!(self.waiting, 0, "settled before a connection is told of");
            self.told += 1;
        }
    }
    let server = end("10.0.0.2", 7);
    let mut told = Trace::default();
    let mut time = T0;
    for n in 0..6000u16 {
        let host = end("10.0.0.9", 1000 + n % 4500);
        let packet = if n % 3 == 0 {
            Packet::tcp(host, server, "S", u32::from(n) << 12, 0, 0)
        } else {
            Packet::udp(host, server, 30)
        };
        told.push(time, packet);
        if n % 30 == 0 {
            // Refused, and tried again.
            let seq = u32::from(n) << 12;
            told.push(time, Packet::tcp(server, host, "RA", 0, seq + 1, 0));
            told.push(time + MS, Packet::tcp(host, server, "S", seq + 99, 0, 0));
        }
        if n % 1000 == 999 {
            // The error comes long after the connection's deadline.
            time += 400 * SEC;
            told.push(time, Packet::udp(end("10.0.0.8", n), server, 30));
        }
        if n % 5 == 4 {
            told.push(time, Packet::icmp_error("10.0.0.254", &packet, (3, 3)));
        }
        time += 50 * MS;
    }
    let packets = u32::try_from(told.metas.len()).unwrap();
    for (memory_bytes, interim_ns) in [(1 << 30, None), (1 << 16, None), (1 << 30, Some(SEC))] {
        let plan = Plan {
            options: FlowOptions {
                memory_bytes,
                interim_ns,
                ..FlowOptions::default()
            },
            batch: 100,
            ..Plan::default()
        };
        let mut settler = Settler::default();
        let (_, counters) = run_observed(&told, &plan, &mut settler);
        assert_eq!((settler.waiting, settler.settled), (0, packets));
        assert!(u64::from(settler.told) >= counters.created_total());
    }
}
