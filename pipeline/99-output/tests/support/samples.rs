//! Records made by hand: ordinary ones, and the longest.

use super::{SECOND, START};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use flowpin_packet::{InterfaceId, TcpFlags, Timestamp, TunnelKind};
use flowpin_record::{
    App, Confidence, ConnRecord, ConnState, Direction, EndReason, EpisodeState, FloodKind,
    FloodRecord, FlowState, History, HostPairRecord, PairConnection, RecordEndpoint, Samples,
    ScanKind, ScanMethod, ScanRecord, TcpState, ToolNames, Uid,
};

/// An ordinary TCP connection.
pub(crate) fn web() -> ConnRecord {
    let direction = |packets, bytes, flags| Direction {
        packets,
        frame_bytes: bytes + 54 * packets,
        ip_bytes: bytes + 40 * packets,
        payload_bytes: bytes,
        stream_bytes: bytes,
        tcp_flags: TcpFlags(flags),
        ..Direction::default()
    };
    let mut history = History::default();
    history.letters[..8].copy_from_slice(b"ShADadFf");
    history.len = 8;
    ConnRecord {
        uid: Uid(0x0123_4567_89ab_cdef),
        start: START.plus_nanos(123_456_789),
        end: START.plus_nanos(2 * SECOND + 5),
        open_until: START.plus_nanos(2 * SECOND + 5),
        first_packet: 17,
        protocol: 6,
        client: RecordEndpoint {
            address: IpAddr::V4(Ipv4Addr::new(192, 168, 1, 20)),
            port: 49_152,
        },
        server: RecordEndpoint {
            address: IpAddr::V4(Ipv4Addr::new(93, 184, 216, 34)),
            port: 443,
        },
        to_server: direction(12, 1802, 0x1b),
        to_client: direction(14, 13_330, 0x1b),
        conn_state: ConnState::SF,
        history,
        flow_state: FlowState::Closed,
        tcp_state: TcpState::Closed,
        reason: EndReason::Closed,
        interim: 0,
        rtt_ns: Some(23_456_789),
        vlans: [u16::MAX; 2],
        interface: InterfaceId::NONE,
        tunnel: None,
        flipped: false,
        midstream: false,
        icmp: None,
        alerted: false,
        app: Some(App {
            name: "http",
            in_tools: ToolNames::of("http"),
            original_in_tools: ToolNames::NONE,
            original: None,
            rule: "http-request",
            confidence: Confidence::Sure,
            by_client: true,
            number: 1,
        }),
    }
}

/// A connection whose protocol Suricata calls something else.
pub(crate) fn renamed() -> ConnRecord {
    let web = web();
    ConnRecord {
        app: web.app.map(|app| App {
            name: "kerberos",
            in_tools: ToolNames::of("kerberos"),
            ..app
        }),
        ..web
    }
}

/// Everything that a connection record can say, at its longest.
pub(crate) fn longest() -> ConnRecord {
    let most = Direction {
        packets: u64::MAX,
        frame_bytes: u64::MAX,
        ip_bytes: u64::MAX,
        payload_bytes: u64::MAX,
        stream_bytes: u64::MAX,
        missed_bytes: u64::MAX,
        tcp_flags: TcpFlags(0xff),
        duplicates: u32::MAX,
        snapped: u32::MAX,
        bad_checksums: u32::MAX,
        icmp_errors: u32::MAX,
    };
    let endpoint = RecordEndpoint {
        address: IpAddr::V6(Ipv6Addr::from([0xabcd; 8])),
        port: u16::MAX,
    };
    ConnRecord {
        uid: Uid(u64::MAX),
        start: Timestamp(0),
        end: Timestamp(i64::MAX as u64),
        open_until: Timestamp(i64::MAX as u64),
        first_packet: u64::MAX,
        client: endpoint,
        server: endpoint,
        to_server: most,
        to_client: most,
        conn_state: ConnState::RSTOS0,
        history: History {
            letters: [b'^'; History::LEN_MAX],
            len: 24,
        },
        flow_state: FlowState::Established,
        tcp_state: TcpState::Established,
        reason: EndReason::EndOfInput,
        interim: u32::MAX,
        rtt_ns: Some(u64::MAX),
        vlans: [4095, 4094],
        interface: InterfaceId::NONE,
        tunnel: Some((TunnelKind::Erspan, Uid(u64::MAX))),
        flipped: true,
        midstream: true,
        icmp: Some((255, 255)),
        alerted: true,
        app: Some(App {
            name: "a-name-as-long-as-a-file-name-of-a-pattern-of-somebody",
            in_tools: ToolNames::of("a-name-as-long-as-a-file-name-of-a-pattern-of-somebody"),
            original_in_tools: ToolNames::of(
                "a-name-as-long-as-a-file-name-of-a-pattern-of-somebody",
            ),
            original: Some("a-name-as-long-as-a-file-name-of-a-pattern-of-somebody"),
            rule: "a-name-as-long-as-a-file-name-of-a-pattern-of-somebody",
            confidence: Confidence::Likely,
            by_client: false,
            number: u16::MAX,
        }),
        ..web()
    }
}

/// A scan with as many samples as fit.
pub(crate) fn scan() -> ScanRecord {
    let address = |last| IpAddr::from([10, 0, 0, last]);
    ScanRecord {
        uid: Uid(77),
        state: EpisodeState::Begun,
        kind: ScanKind::Block,
        method: ScanMethod::SctpCookieEcho,
        source: address(1),
        source_count: 3,
        sources: Samples::first(address(0), [address(1), address(2), address(3)]),
        first: START,
        last: START.plus_nanos(SECOND),
        first_packet: 5,
        attempts: 2100,
        hosts: 200,
        ports: 10,
        targets: 2000,
        open: 1,
        closed: 99,
        filtered: 1900,
        estimated: true,
        host_samples: Samples::first(address(0), (10..20).map(address)),
        port_samples: Samples::first(0, 1..100),
    }
}

/// A flood; its samples are few.
pub(crate) fn flood() -> FloodRecord {
    FloodRecord {
        uid: Uid(78),
        state: EpisodeState::Over,
        kind: FloodKind::Syn,
        target: IpAddr::V6(Ipv6Addr::LOCALHOST),
        port: Some(80),
        first: START,
        last: START.plus_nanos(2 * SECOND),
        first_packet: 6,
        source_count: 10_000_000,
        sources: Samples::first(IpAddr::from([0; 4]), [IpAddr::from([1, 2, 3, 4])]),
        packets: 10_000_001,
        peak_rate: 5_000_000,
        estimated: false,
    }
}

/// What three connections of two hosts come to.
pub(crate) fn host_pair() -> HostPairRecord {
    let [one, other] = [web(), renamed()].map(|record| PairConnection::of(&record));
    let mut pair = HostPairRecord::of(&one);
    pair.add(&one);
    pair.add(&other);
    pair
}
