//! What each text format looks like, byte for byte. `FLOWPIN_BLESS=1` writes the files anew.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod support;

use core::net::IpAddr;
use flowpin_config::Format;
use flowpin_output::Writers;
use flowpin_packet::{InterfaceId, Layer, Reason, Timestamp, TunnelKind, bad};
use flowpin_record::{
    AnomalyRecord, ConnState, Direction, EndReason, FlowState, History, RecordEndpoint, RecordKey,
    TcpState, TunnelRecord, Uid,
};
use support::{Any, SECOND, START, files, flood, host_pair, longest, plan, scan, web, write_all};

fn endpoint(address: &str, port: u16) -> RecordEndpoint {
    RecordEndpoint {
        address: address.parse().unwrap(),
        port,
    }
}

fn history(letters: &str) -> History {
    let mut history = History::default();
    history.letters[..letters.len()].copy_from_slice(letters.as_bytes());
    history.len = letters.len() as u8;
    history
}

/// One of each kind: TCP, a single UDP packet, ICMP echo over IPv6 and a VLAN, SCTP, an interim
/// record with everything in it, an anomaly with and without addresses, a tunnel,
/// a scan, a flood and a pair of hosts.
fn records() -> Vec<(RecordKey, Any)> {
    let one = Direction {
        packets: 1,
        frame_bytes: 77,
        ip_bytes: 63,
        payload_bytes: 35,
        stream_bytes: 35,
        ..Direction::default()
    };
    let lookup = flowpin_record::ConnRecord {
        uid: Uid(1),
        start: START,
        end: START,
        open_until: START,
        protocol: 17,
        client: endpoint("10.0.0.1", 5353),
        server: endpoint("224.0.0.251", 5353),
        to_server: one,
        to_client: Direction::default(),
        conn_state: ConnState::S0,
        history: history("D"),
        flow_state: FlowState::New,
        tcp_state: TcpState::None,
        reason: EndReason::Timeout,
        rtt_ns: None,
        app: None,
        ..web()
    };
    let echo = flowpin_record::ConnRecord {
        uid: Uid(u64::MAX),
        end: START.plus_nanos(SECOND),
        open_until: START.plus_nanos(SECOND),
        protocol: 58,
        client: endpoint("fe80::1", 128),
        server: endpoint("2001:db8::2", 129),
        to_client: one,
        conn_state: ConnState::OTH,
        history: history(""),
        reason: EndReason::EndOfInput,
        vlans: [100, u16::MAX],
        tunnel: Some((TunnelKind::Gre, Uid(9))),
        icmp: Some((128, 0)),
        ..lookup
    };
    let sctp = flowpin_record::ConnRecord {
        uid: Uid(2),
        protocol: 132,
        vlans: [100, 200],
        interface: InterfaceId(2),
        reason: EndReason::Evicted,
        ..lookup
    };
    let refused = AnomalyRecord {
        time: START.plus_nanos(1),
        packet_number: Some(4),
        interface: InterfaceId(1),
        what: bad(Layer::Tcp, Reason::LengthTooSmall, 12),
        app: None,
        addresses: Some((IpAddr::from([1, 2, 3, 4]), IpAddr::from([5, 6, 7, 8]))),
        connection: None,
        suppressed: 3,
    };
    let broken = AnomalyRecord {
        addresses: None,
        what: bad(Layer::Ethernet, Reason::Truncated, 0),
        app: None,
        ..refused
    };
    let tunnel = TunnelRecord {
        uid: Uid(9),
        parent: Uid(8),
        kind: TunnelKind::Gre,
        id: 77,
        addresses: (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2])),
        first: START,
        last: START.plus_nanos(SECOND / 2),
        packets: [10, 20],
        bytes: [1000, 2000],
    };
    let all = [
        Any::Conn(web()),
        Any::Anomaly(refused),
        Any::Conn(lookup),
        Any::Conn(echo),
        Any::Conn(longest()),
        Any::Anomaly(broken),
        Any::Conn(sctp),
        Any::Tunnel(tunnel),
        Any::Scan(scan()),
        Any::Flood(flood()),
        Any::HostPair(host_pair()),
    ];
    let keys = (0..).map(|index: u64| RecordKey {
        time: Timestamp(START.0 + index * SECOND),
        number: index,
        ordinal: 0,
    });
    keys.zip(all).collect()
}

/// A change of any byte of any format must be meant.
#[test]
fn text_formats_are_as_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let formats = [Format::Eve, Format::ZeekTsv, Format::ZeekJson, Format::Csv];
    let plan = plan(dir.path(), &formats);
    let mut writers = Writers::open(&plan).unwrap();
    write_all(&plan, &mut writers, &records()).unwrap();
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let written = files(dir.path());
    if std::env::var_os("FLOWPIN_BLESS").is_some() {
        std::fs::remove_dir_all(&golden).unwrap();
        std::fs::create_dir(&golden).unwrap();
        for (name, bytes) in &written {
            std::fs::write(golden.join(name), bytes).unwrap();
        }
    }
    let expected = files(&golden);
    let names = |files: &std::collections::BTreeMap<String, Vec<u8>>| {
        files.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(names(&written), names(&expected));
    for (name, bytes) in &expected {
        let (ours, theirs) = (
            String::from_utf8_lossy(&written[name]),
            String::from_utf8_lossy(bytes),
        );
        assert_eq!(ours, theirs, "{name}");
    }
}
