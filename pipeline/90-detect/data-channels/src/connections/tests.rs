//! Which connection an announcement names.

use super::{DataConnections, may_carry_data};
use core::net::IpAddr;
use flowpin_counters::Loss;
use flowpin_packet::{InterfaceId, Timestamp};
use flowpin_record::{
    ConnRecord, ConnState, DataChannel, Direction, EndReason, FlowState, History, RecordEndpoint,
    TcpState, Uid,
};
use proptest::prelude::*;

pub(crate) fn end(host: u8, port: u16) -> RecordEndpoint {
    RecordEndpoint {
        address: IpAddr::from([10, 0, 0, host]),
        port,
    }
}

const SECOND: u64 = 1_000_000_000;

/// A connection that began at a second, with the packet of that number.
pub(crate) fn connection(
    uid: u64,
    client: RecordEndpoint,
    server: RecordEndpoint,
    at: u64,
) -> ConnRecord {
    ConnRecord {
        uid: Uid(uid),
        start: Timestamp(at * SECOND),
        end: Timestamp((at + 1) * SECOND),
        open_until: Timestamp((at + 1) * SECOND),
        first_packet: at,
        protocol: 6,
        client,
        server,
        to_server: Direction::default(),
        to_client: Direction {
            payload_bytes: 9,
            ..Direction::default()
        },
        conn_state: ConnState::SF,
        history: History::default(),
        flow_state: FlowState::Closed,
        tcp_state: TcpState::Closed,
        reason: EndReason::Closed,
        interim: 0,
        rtt_ns: None,
        vlans: [u16::MAX; 2],
        interface: InterfaceId::NONE,
        tunnel: None,
        flipped: false,
        midstream: false,
        icmp: None,
        app: None,
        alerted: false,
    }
}

/// The server of host 2 waits for host 1.
fn announce(data: &mut DataConnections, control: u64, port: u16, at: u64) {
    data.stated(
        Uid(control),
        Timestamp(at * SECOND),
        at,
        DataChannel::Announced {
            by_client: false,
            opener: end(1, 0).address,
            listener: end(2, port),
        },
    );
}

/// The other way round, or to another port, or between other hosts, it is another connection.
#[test]
fn only_what_was_announced_is_recognised() {
    for (client, server) in [
        (end(2, 5000), end(1, 30_000)),
        (end(1, 5000), end(2, 30_001)),
        (end(3, 5000), end(2, 30_000)),
        (end(1, 5000), end(3, 30_000)),
    ] {
        let mut data = DataConnections::default();
        announce(&mut data, 1, 30_000, 5);
        assert_eq!(data.recognise(&connection(7, client, server, 6)), None);
    }
    let mut data = DataConnections::default();
    announce(&mut data, 1, 30_000, 5);
    let record = connection(7, end(1, 5000), end(2, 30_000), 6);
    assert!(
        data.recognise(&record)
            .is_some_and(|(_, is_first)| is_first)
    );
    assert_eq!(data.recognise(&record), None, "used up");
    assert!(data.is_idle());
}

/// Where no handshake was seen, who opened the connection is a guess.
#[test]
fn a_connection_without_beginning_may_be_turned_round() {
    let mut data = DataConnections::default();
    announce(&mut data, 1, 30_000, 5);
    let turned = connection(7, end(2, 30_000), end(1, 5000), 6);
    assert_eq!(data.recognise(&turned), None);
    let turned = ConnRecord {
        midstream: true,
        ..turned
    };
    assert!(data.recognise(&turned).is_some());
}

/// A transfer belongs to the last announcement of its control connection.
#[test]
fn transfers_belong_to_the_last_announcement() {
    let mut data = DataConnections::default();
    let carries = |data: &mut DataConnections, control, file: &[u8]| {
        let said = DataChannel::Carries {
            command: b"RETR",
            file,
        };
        data.stated(Uid(control), Timestamp(5 * SECOND), 5, said);
    };
    announce(&mut data, 1, 30_000, 1);
    carries(&mut data, 1, b"one");
    announce(&mut data, 2, 30_001, 2);
    announce(&mut data, 1, 30_002, 3);
    carries(&mut data, 2, b"two");
    carries(&mut data, 1, b"three");
    carries(&mut data, 9, b"other's");
    for (port, file) in [(30_002, "three"), (30_001, "two"), (30_000, "one")] {
        let record = connection(port.into(), end(1, 5000), end(2, port), 6);
        let (found, _) = data.recognise(&record).unwrap();
        assert_eq!(
            (&*found.command, &*found.file),
            (&b"RETR"[..], file.as_bytes())
        );
    }
}

/// Two hosts that announce without end forget their own, and that is counted; others' stay.
#[test]
fn announcements_of_two_hosts_have_a_limit() {
    let mut data = DataConnections::default();
    let other = DataChannel::Announced {
        by_client: true,
        opener: end(3, 0).address,
        listener: end(4, 30_000),
    };
    data.stated(Uid(9), Timestamp(SECOND), 1, other);
    for nth in 0..3000_u16 {
        announce(&mut data, 1, 10_000 + nth, 2);
    }
    assert_eq!(data.losses().of(Loss::FtpDataForgotten), 3000 - 1024);
    let record = connection(7, end(3, 20), end(4, 30_000), 3);
    assert!(data.recognise(&record).is_some());
    assert_eq!(
        data.recognise(&connection(8, end(1, 9), end(2, 10_000), 3)),
        None
    );
    assert!(
        data.recognise(&connection(9, end(1, 9), end(2, 12_999), 3))
            .is_some()
    );
}

/// All together have a limit, too: the oldest go. After a day they are dropped.
#[test]
fn announcements_have_a_limit_and_an_end() {
    let mut data = DataConnections::default();
    let of_host = |host: u32, at: u64| DataChannel::Announced {
        by_client: at == 0,
        opener: IpAddr::from(host.to_be_bytes()),
        listener: end(2, 30_000),
    };
    for host in 0..20_000 {
        data.stated(Uid(host.into()), Timestamp(SECOND), 1, of_host(host, 1));
    }
    let forgotten = data.losses().of(Loss::FtpDataForgotten);
    assert_eq!(forgotten, 20_000 - (1 << 14));
    data.stated(Uid(1), Timestamp(90_000 * SECOND), 2, of_host(1, 1));
    let client = RecordEndpoint {
        address: IpAddr::from(19_999_u32.to_be_bytes()),
        port: 9,
    };
    assert_eq!(
        data.recognise(&connection(1, client, end(2, 30_000), 2)),
        None
    );
    assert_eq!(
        data.losses().of(Loss::FtpDataForgotten),
        forgotten,
        "in time"
    );
}

/// A connection that was never opened, or talks both ways in a known protocol, is not looked at.
#[test]
fn most_connections_are_not_looked_at() {
    let open = connection(1, end(1, 9), end(2, 30_000), 1);
    assert!(may_carry_data(&open));
    assert!(!may_carry_data(&ConnRecord {
        reason: EndReason::Timeout,
        ..open
    }));
    for (state, payload) in [
        (ConnState::S0, 0),
        (ConnState::REJ, 0),
        (ConnState::RSTRH, 0),
    ] {
        let to_client = Direction {
            payload_bytes: payload,
            ..Direction::default()
        };
        let tried = ConnRecord {
            conn_state: state,
            to_client,
            ..open
        };
        assert!(!may_carry_data(&tried), "{state:?}");
    }
    assert!(!may_carry_data(&ConnRecord {
        protocol: 17,
        ..open
    }));
}

proptest! {
    /// Each announcement names one connection, whatever their number.
    #[test]
    fn every_announcement_names_one_connection(
        ports in prop::collection::vec(0_u16..6, 0..40),
        come in prop::collection::vec(0_u16..6, 0..80),
    ) {
        let mut data = DataConnections::default();
        for &port in &ports {
            announce(&mut data, 1, 30_000 + port, 1);
        }
        let mut named = [0_usize; 6];
        for (uid, &port) in (1..).zip(&come) {
            let record = connection(uid, end(1, 9), end(2, 30_000 + port), 2);
            named[usize::from(port)] += usize::from(data.recognise(&record).is_some());
        }
        for (port, named) in (0..).zip(named) {
            let count = |of: &[u16]| of.iter().filter(|&&one| one == port).count();
            prop_assert_eq!(named, count(&ports).min(count(&come)));
        }
    }
}
