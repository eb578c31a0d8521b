//! What becomes of a packet's bytes after it, and what the stages say beside that: over small
//! captures, each of one purpose.

use crate::{explain, plan, story};
use flowpin_config::{Format, Timeouts};
use flowpin_engine::{
    Completion, Control, ExplainReport, HeldOutcome, HeldReason, PacketAccount, Plan, Question,
    RunError, SlowReason, Unread, Wanted,
};
use flowpin_testkit::build::tunnel::vxlan;
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::Writer;
use std::path::Path;
use tempfile::TempDir;

/// A capture of these frames, a millisecond apart.
fn capture(frames: &[Vec<u8>]) -> (TempDir, Plan) {
    capture_every(1_000_000, frames)
}

fn capture_every(step_ns: u64, frames: &[Vec<u8>]) -> (TempDir, Plan) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames.pcap");
    let mut writer = Writer::new(Vec::new(), 1, true).unwrap();
    for (frame, nth) in frames.iter().zip(1u64..) {
        let len = u32::try_from(frame.len()).unwrap();
        let time = 1_700_000_000_000_000_000 + nth * step_ns;
        writer.packet(time, len, frame).unwrap();
    }
    std::fs::write(&path, writer.finish().unwrap()).unwrap();
    let plan = plan(&path);
    (folder, plan)
}

fn asked(frames: &[Vec<u8>], number: u64) -> (PacketAccount, ExplainReport) {
    let (_folder, plan) = capture(frames);
    let (mut accounts, report) = explain(&plan, Question::Packet(number));
    (accounts.pop().unwrap(), report)
}

fn there(seq: u32, ack: u32, flags: u8, bytes: &[u8]) -> Vec<u8> {
    let tcp = Tcp::new(50_000, 80, seq, ack, flags);
    Ip::v4([10, 0, 0, 1], [10, 0, 0, 2])
        .tcp(tcp, bytes)
        .ethernet()
}

fn back(seq: u32, ack: u32, flags: u8, bytes: &[u8]) -> Vec<u8> {
    let tcp = Tcp::new(80, 50_000, seq, ack, flags);
    Ip::v4([10, 0, 0, 2], [10, 0, 0, 1])
        .tcp(tcp, bytes)
        .ethernet()
}

/// The three packets of a handshake; the next bytes are 1001 and 5001.
fn handshake() -> Vec<Vec<u8>> {
    vec![
        there(1000, 0, flags::SYN, b""),
        back(5000, 1001, flags::SYN | flags::ACK, b""),
        there(1001, 5001, flags::ACK, b""),
    ]
}

/// A handshake, then a request whose second half comes first, and nothing or something after it.
fn with_hole(after: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut frames = handshake();
    frames.push(there(1011, 5001, flags::ACK, b"0123456789"));
    frames.extend_from_slice(after);
    frames
}

/// The end says which packet delivered what was held, which one made it useless, or that it was
/// held to the end.
#[test]
fn the_end_says_what_became_of_held_bytes() {
    let (_, report) = asked(
        &with_hole(&[there(1001, 5001, flags::ACK, b"0123456789")]),
        4,
    );
    let [fate] = report.connections[0].held.as_slice() else {
        panic!("{:?}", report.connections);
    };
    assert_eq!((fate.packet, fate.bytes, fate.to_server), (4, 10, true));
    assert_eq!(fate.outcome, HeldOutcome::Delivered(5));
    let (_, report) = asked(&with_hole(&[there(1001, 5001, flags::RST, b"")]), 4);
    let connection = &report.connections[0];
    assert_eq!(connection.held[0].outcome, HeldOutcome::AtEnd);
    assert!(connection.streams_end.counters.contains(&("discarded", 10)));
    let (_, report) = asked(&with_hole(&[]), 4);
    let connection = &report.connections[0];
    assert_eq!(connection.held[0].outcome, HeldOutcome::AtEnd);
    assert_eq!(connection.streams_end.held, [10, 0]);
    let delivered = connection.streams_end.counters.iter();
    let delivered: i64 = delivered
        .filter(|(name, _)| ["delivered", "gap_bytes"].contains(name))
        .map(|(_, by)| by)
        .sum();
    assert_eq!(delivered, 20, "{:?}", connection.streams_end);
    // Packet by packet, all are listed.
    let (_folder, plan) = capture(&with_hole(&[]));
    let community = report.connections[0].uid;
    let (_, report) = explain(&plan, Question::Connection(Wanted::Uid(community)));
    assert_eq!(report.connections[0].held, connection.held);
}

/// Bytes beyond the receiver's window are said to lie there.
#[test]
fn bytes_beyond_the_window_are_not_simply_held() {
    let mut frames = handshake();
    let mut narrow = Tcp::new(80, 50_000, 5001, 1001, flags::ACK);
    narrow.window = 4;
    let ip = Ip::v4([10, 0, 0, 2], [10, 0, 0, 1]);
    frames.push(ip.tcp(narrow, b"").ethernet());
    // Four bytes of these are inside, six beyond; then three after a hole, all beyond.
    frames.push(there(1001, 5001, flags::ACK, b"0123456789"));
    frames.push(there(1020, 5001, flags::ACK, b"abc"));
    for (number, reason, bytes) in [(5, HeldReason::Window, 6), (6, HeldReason::Hole, 3)] {
        let (account, _) = asked(&frames, number);
        let held = account.streams.unwrap().held.unwrap();
        assert_eq!((held.reason, held.bytes), (reason, bytes), "{number}");
        assert_eq!(held.beyond_window, bytes, "{number}");
    }
    let (account, _) = asked(&with_hole(&[]), 4);
    let held = account.streams.unwrap().held.unwrap();
    assert_eq!((held.reason, held.beyond_window), (HeldReason::Hole, 0));
}

/// A message that a packet does not complete: which one does.
#[test]
fn the_packet_that_completes_a_message_is_named() {
    let parts = [&b"GET /a HTTP/1.1\r\nHo"[..], b"st: example.org\r\n\r\n"];
    let request = u32::try_from(parts.concat().len()).unwrap();
    let mut frames = handshake();
    frames.push(there(1001, 5001, flags::ACK, parts[0]));
    let middle = 1001 + u32::try_from(parts[0].len()).unwrap();
    frames.push(there(middle, 5001, flags::ACK, parts[1]));
    let unanswered = frames.clone();
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    frames.push(back(5001, 1001 + request, flags::ACK, answer));
    for number in [4, 5] {
        let (account, _) = asked(&frames, number);
        assert_eq!(account.completion, Some(Completion::Packet(6)), "{number}");
        let (account, _) = asked(&unanswered, number);
        assert_eq!(account.completion, Some(Completion::AtEnd), "{number}");
    }
    for number in [3, 6] {
        let (account, _) = asked(&frames, number);
        assert_eq!(account.completion, None, "{number}");
    }
    // Held, then delivered by the packet that completes it.
    assert_eq!(story(5).completion, Some(Completion::Packet(6)));
}

/// A frame's own fragment fields stay beside the headers of its datagram; IPv6's extension headers
/// are listed one by one.
#[test]
fn fragments_show_their_own_headers() {
    let field = |account: &PacketAccount, header: &str, field: &str| {
        let own = account.fragment_headers.as_ref();
        let all = &own.unwrap_or(&account.headers).all;
        let header = all.iter().find(|one| one.name == header).unwrap();
        let found = header.fields.iter().find(|(name, _)| *name == field);
        found.map(|(_, value)| value.clone()).unwrap()
    };
    let last = story(19);
    assert_eq!(field(&last, "ipv4", "fragment_offset"), "56");
    assert_eq!(field(&last, "ipv4", "more_fragments"), "false");
    assert_eq!(last.headers.all.last().unwrap().name, "udp");
    let datagram = Ip::v6(1, 2).identified(7).udp(40_000, 40_001, &[0xaa; 200]);
    let pieces = datagram.fragments(160);
    let frames: Vec<_> = pieces.iter().map(|one| one.ethernet()).collect();
    assert_eq!(frames.len(), 2);
    let (_folder, plan) = capture(&frames);
    let (accounts, _) = explain(&plan, Question::Packet(1));
    for (account, more) in accounts.iter().zip(["true", "false"]) {
        assert_eq!(field(account, "fragment", "id"), "7");
        assert_eq!(field(account, "fragment", "more_fragments"), more);
        assert_eq!(account.slow_path, Some(SlowReason::Protocol(44)));
    }
    assert_eq!(field(&accounts[0], "fragment", "fragment_offset"), "0");
}

/// The reason for the slow path is that of the check which refused.
#[test]
fn the_slow_path_is_explained_by_what_refused() {
    for (number, reason) in [
        (4, None),
        (17, Some(SlowReason::HeaderChecksum)),
        (18, Some(SlowReason::Fragment)),
        (20, Some(SlowReason::TunnelPort)),
        (21, Some(SlowReason::EtherType(0x0806))),
        (24, Some(SlowReason::Short)),
    ] {
        assert_eq!(story(number).slow_path, reason, "{number}");
    }
}

/// No parser: off, left out, none, or ended.
#[test]
fn a_missing_parser_is_explained() {
    let request = b"GET /a HTTP/1.1\r\nHost: example.org\r\n\r\n";
    let mut frames = handshake();
    frames.push(there(1001, 5001, flags::ACK, request));
    let (_folder, mut plan) = capture(&frames);
    plan.parse.protocols = vec!["dns".to_owned()];
    let unread = |plan: &Plan, number| {
        let (accounts, _) = explain(plan, Question::Packet(number));
        let change = accounts[0].inspect.clone().unwrap();
        (change.after.unread, change.had_parser)
    };
    assert_eq!(unread(&plan, 4), (Some(Unread::LeftOut), false));
    plan.parse.enabled = false;
    assert_eq!(unread(&plan, 4), (Some(Unread::Off), false));
    let ssdp =
        b"M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\n\r\n";
    let ip = Ip::v4([10, 0, 0, 1], [239, 255, 255, 250]);
    let (_folder, plan) = capture(&[ip.udp(50_000, 1900, ssdp).ethernet()]);
    assert_eq!(unread(&plan, 1), (Some(Unread::NoParser), false));
    let finished = story(16).inspect.unwrap();
    assert_eq!(finished.after.unread, Some(Unread::Released));
    assert!(finished.had_parser);
}

/// Tags and tunnels are the connection's.
#[test]
fn a_connection_shows_its_vlan_and_tunnel() {
    let packet = Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]).udp(40_000, 9, b"x");
    let (account, _) = asked(&[packet.tagged(&[7, 8])], 1);
    assert_eq!(account.connection.unwrap().after.vlans, [7, 8]);
    let tunnel = story(20).connection.unwrap().after.tunnel;
    assert_eq!(tunnel.map(|(kind, _)| kind.name()), Some("vxlan"));
}

/// A tunnel that was idle for too long ends before the input does: its record belongs to the packet
/// that began it all the same.
#[test]
fn an_idle_tunnel_is_of_the_packet_that_began_it() {
    let inner = |port| {
        let packet = Ip::v4([172, 16, 0, 1], [172, 16, 0, 2]).udp(port, 9, b"x");
        let outer = Ip::v4([10, 0, 1, 1], [10, 0, 1, 2]);
        outer
            .udp(50_003, 4789, &vxlan(7, &packet.ethernet()))
            .ethernet()
    };
    let plain = Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]).udp(40_000, 9, b"x");
    let frames = [plain.ethernet(), inner(1), plain.ethernet(), inner(2)];
    let (_folder, plan) = capture_every(301_000_000_000, &frames);
    let tunnels = |number| {
        let (accounts, _) = explain(&plan, Question::Packet(number));
        let records = accounts[0].records.iter();
        records.filter(|one| one.kind == "tunnel").count()
    };
    assert_eq!([1, 2, 3, 4].map(tunnels), [0, 1, 0, 1]);
}

/// Each connection of a Community ID has its end, also those that are open at the same time.
#[test]
fn each_connection_of_a_community_id_has_its_end() {
    let syn = |seq| there(seq, 0, flags::SYN, b"");
    // An attempt lives for five seconds: the third packet begins another one.
    let frames = [syn(1000), syn(1000), syn(900_000)];
    let (_folder, plan) = capture_every(3_000_000_000, &frames);
    let community = community_of(&plan);
    let (accounts, report) = explain(&plan, Question::Connection(community));
    assert_eq!(accounts.len(), 3);
    let found = report.connections.iter();
    let found: Vec<(u64, bool)> = found.map(|one| (one.packets, one.end.is_some())).collect();
    assert_eq!(found, [(2, true), (1, true)]);
    assert_ne!(report.connections[0].uid, report.connections[1].uid);
    let kinds = report.connections.iter().map(|one| one.records.len());
    assert!(
        report.connections[1]
            .records
            .iter()
            .any(|one| one.kind == "conn")
    );
    assert!(kinds.sum::<usize>() >= 1);
}

/// The Community ID of the first connection, as its record has it.
fn community_of(plan: &Plan) -> Wanted {
    let (_, report) = explain(plan, Question::Packet(1));
    let record = &report.connections[0].records;
    let text = record
        .iter()
        .flat_map(|one| &one.lines)
        .map(|line| &line.text);
    let (_, rest) = text
        .filter_map(|line| line.split_once("\"community_id\":\""))
        .next()
        .unwrap();
    rest.split_once('"').unwrap().0.parse().unwrap()
}

/// Until when a connection lives is said with the rule that says so.
#[test]
fn the_time_out_that_applies_is_named() {
    let of = |number| {
        let lifetime = story(number).connection.unwrap().lifetime.unwrap();
        let seconds = lifetime.after_ns.unwrap() / 1_000_000_000;
        (lifetime.state, seconds, lifetime.is_fixed)
    };
    assert_eq!(of(1), ("unanswered", 5, true));
    assert_eq!(of(4), ("established", 300, false));
    assert_eq!(of(16), ("closed", 5, true));
    assert_eq!(of(22), ("one_way", 60, false));
    let (_folder, mut plan) = capture(&handshake());
    plan.timeouts = Timeouts::None;
    let (accounts, _) = explain(&plan, Question::Packet(1));
    let lifetime = accounts[0].connection.unwrap().lifetime.unwrap();
    assert_eq!(lifetime.after_ns, None);
}

/// Formats without lines are refused, instead of another one being shown.
#[test]
fn formats_without_text_are_refused() {
    let (_folder, mut plan) = capture(&handshake());
    for format in [Format::Parquet, Format::None] {
        plan.output.formats = vec![format];
        let mut sink = crate::Kept::default();
        let question = Question::Packet(1);
        let refused = flowpin_engine::explain(&plan, question, &mut sink, &Control::default(), &());
        assert!(matches!(refused, Err(RunError::ExplainWithoutText)));
    }
}

/// With `--extract`, records are as in a run, and no file is written.
#[test]
fn extraction_is_explained_without_files() {
    let path = flowpin_testkit::corpus::workspace().join("testkit/captures/http-expect.pcap.gz");
    let folder = tempfile::tempdir().unwrap();
    let bodies = folder.path().join("bodies");
    crate::law::check(Path::new(&path), |plan| {
        plan.files.extract = Some(bodies.clone());
        plan.files.decode = true;
    });
    let (plan, before) = (plan(&path), std::fs::read_dir(&bodies).unwrap().count());
    assert!(before > 0);
    let other = folder.path().join("none");
    let mut extracting = plan;
    extracting.files.extract = Some(other.clone());
    explain(&extracting, Question::Packet(4));
    assert!(!other.exists());
}
