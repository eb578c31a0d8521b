//! What is explained of packets is what a run does with them.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

mod later;
mod law;
mod robust;
mod story;

use flowpin_config::{Input, Plan};
use flowpin_engine::{
    Anomaly, Control, ExplainReport, ExplainSink, Fate, PacketAccount, Question, RunError,
    StreamsView, Wanted,
};
use flowpin_packet::{Layer, Reason};
use std::path::{Path, PathBuf};

/// Where the story lies, also for the tests of the command.
const STORY: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../apps/flowpin/tests/explain/story.pcap"
);

#[derive(Default)]
struct Kept(Vec<PacketAccount>);

impl ExplainSink for Kept {
    fn packet(&mut self, account: PacketAccount) -> Result<(), RunError> {
        self.0.push(account);
        Ok(())
    }
}

fn plan(path: &Path) -> Plan {
    let mut plan = Plan {
        inputs: vec![Input::File(path.to_owned())],
        ..Plan::default()
    };
    plan.identify.cache = Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    plan
}

fn explain(plan: &Plan, question: Question) -> (Vec<PacketAccount>, ExplainReport) {
    let mut kept = Kept::default();
    let report =
        flowpin_engine::explain(plan, question, &mut kept, &Control::default(), &()).unwrap();
    (kept.0, report)
}

/// The account of a packet of the story.
fn story(number: u64) -> PacketAccount {
    let (accounts, _) = explain(&plan(Path::new(STORY)), Question::Packet(number));
    let found = accounts.into_iter().find(|one| one.number == number);
    found.unwrap_or_else(|| panic!("packet {number}"))
}

fn grown(streams: &StreamsView, name: &str) -> i64 {
    let mut counters = streams.counters.iter();
    let found = counters.find(|(counter, _)| *counter == name);
    found.map_or(0, |&(_, by)| by)
}

/// The capture in the tree is what is built here.
#[test]
fn the_capture_is_what_is_built() {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(STORY, story::capture()).unwrap();
    }
    let bytes = std::fs::read(STORY).unwrap();
    assert!(bytes == story::capture(), "mend it by UPDATE_GOLDEN=1");
}

/// The state before a packet is that after the one before.
#[test]
fn a_handshake_goes_from_state_to_state() {
    let states = [1, 2, 3].map(|number| {
        let view = story(number).connection.unwrap();
        let before = view.before.map(|one| one.history.as_str().to_owned());
        (before, view.after.history.as_str().to_owned())
    });
    let [(none, syn), (before_answer, answer), (before_ack, ack)] = states;
    assert_eq!((none, syn.as_str()), (None, "S"));
    assert_eq!(
        (before_answer.as_deref(), answer.as_str()),
        (Some("S"), "Sh")
    );
    assert_eq!((before_ack.as_deref(), ack.as_str()), (Some("Sh"), "ShA"));
    let probe = story(1).scans.unwrap();
    assert_eq!(probe.probe, Some("syn"));
    assert_eq!(story(2).scans.unwrap().steps, ["answered", "accepted"]);
}

/// A segment in order is delivered, identified and bound to its parser.
#[test]
fn data_in_order_is_delivered_and_identified() {
    let account = story(4);
    assert_eq!(account.slow_path, None);
    let streams = account.streams.unwrap();
    assert_eq!(streams.before[0].offset, 0);
    assert_eq!(streams.after[0].offset, 38);
    let inspect = account.inspect.unwrap();
    let before = inspect.before.unwrap();
    assert_eq!(
        (before.phase, before.app, before.parser),
        ("searching", None, None)
    );
    assert_eq!(inspect.after.app.unwrap().name, "http");
    assert_eq!(inspect.after.parser, Some("http"));
}

/// What comes early is held, and delivered by what fills the hole, which completes a message.
#[test]
fn data_out_of_order_waits_for_what_is_missing() {
    let held = story(5).streams.unwrap();
    assert_eq!((grown(&held, "held"), held.after[1].offset), (23, 0));
    assert_eq!(held.after[1].held_bytes, 23);
    let filled = story(6);
    let streams = filled.streams.unwrap();
    assert_eq!(
        (grown(&streams, "held"), streams.after[1].offset),
        (-23, 43)
    );
    assert_eq!(filled.inspect.unwrap().messages, 1);
    assert_eq!(filled.records[0].kind, "http");
    assert_eq!(filled.records[0].lines[0].file, "eve.json");
}

/// A retransmission is named as such, and a keep-alive too.
#[test]
fn what_is_sent_again_is_not_used() {
    let again = story(7).streams.unwrap();
    assert_eq!(grown(&again, "duplicate"), 20);
    assert_eq!(again.before[1], again.after[1]);
    assert_eq!(grown(&story(12).streams.unwrap(), "keep_alives"), 1);
}

/// A RST outside the window changes nothing, and is a record.
#[test]
fn a_reset_that_is_not_believed_is_explained() {
    let account = story(8);
    let view = account.connection.unwrap();
    assert!(view.is_ignored);
    let streams = account.streams.unwrap();
    assert_eq!(streams.anomalies, [Anomaly::InvalidReset]);
    assert_eq!(streams.after[1].phase, "open");
    assert_eq!(account.records[0].kind, "weird");
}

/// What the receiver acknowledges and the capture does not have is a gap.
#[test]
fn a_gap_is_reported_by_what_acknowledges_it() {
    let held = story(10).streams.unwrap();
    assert_eq!(held.after[1].held_bytes, 43);
    let gap = story(11).streams.unwrap();
    assert_eq!((grown(&gap, "gaps"), grown(&gap, "gap_bytes")), (1, 100));
    assert_eq!(gap.after[1].offset, 43 + 100 + 43);
}

/// The end: by its state, and by the record that follows.
#[test]
fn the_end_of_a_connection_is_explained() {
    let (accounts, report) = explain(&plan(Path::new(STORY)), Question::Packet(16));
    let streams = accounts[0].streams.as_ref().unwrap();
    assert_eq!(streams.after.map(|one| one.phase), ["finished"; 2]);
    let [connection] = report.connections.try_into().unwrap();
    let end = connection.end.unwrap();
    assert_eq!(end.record.conn_state.name(), "SF");
    assert_eq!(connection.records[0].kind, "conn");
}

/// Packets that never reach a connection say where they ended and why.
#[test]
fn packets_without_a_connection_say_why() {
    let refused = story(17);
    let [Fate::Refused(what)] = refused.fates.as_slice() else {
        panic!("{:?}", refused.fates);
    };
    assert_eq!((what.layer, what.reason), (Layer::Ipv4, Reason::Checksum));
    assert_eq!(refused.records[0].kind, "weird");
    let arp = story(21);
    assert_eq!(
        (arp.fates.as_slice(), arp.headers.non_ip),
        (&[Fate::NonIp][..], Some("arp"))
    );
    assert_eq!(story(24).fates, [Fate::Headless]);
    for account in [refused, arp] {
        assert!(account.connection.is_none() && account.packet.is_none());
    }
}

/// A fragment is explained with the one that completes its datagram.
#[test]
fn a_fragment_leads_to_its_datagram() {
    let (accounts, report) = explain(&plan(Path::new(STORY)), Question::Packet(18));
    let numbers: Vec<u64> = accounts.iter().map(|one| one.number).collect();
    assert_eq!(numbers, [18, 19]);
    assert!(matches!(
        accounts[0].fates[0],
        Fate::FragmentHeld {
            offset: 0,
            more: true,
            ..
        }
    ));
    assert_eq!(accounts[0].fates[1], Fate::CompletedBy(19));
    let whole = Fate::FragmentCompletes {
        numbers: vec![18, 19],
    };
    assert_eq!(accounts[1].fates, [whole, Fate::Packet]);
    assert_eq!(accounts[1].packet.unwrap().payload_len, 80);
    assert_eq!(report.connections.len(), 1);
}

/// A fragment whose others never come says so.
#[test]
fn a_fragment_by_itself_is_never_completed() {
    let mut plan = plan(Path::new(STORY));
    plan.packet_count_max = Some(18);
    let (accounts, report) = explain(&plan, Question::Packet(18));
    assert_eq!(accounts[0].fates[1], Fate::NeverCompleted);
    assert!(report.connections.is_empty());
}

/// Headers are listed down to the innermost, each where it lies.
#[test]
fn a_tunnel_is_listed_with_what_is_inside() {
    let account = story(20);
    let headers = account.headers.all.iter();
    let found: Vec<_> = headers.map(|one| (one.name, one.offset, one.len)).collect();
    let expected = [
        ("ethernet", 0, 14),
        ("ipv4", 14, 20),
        ("udp", 34, 8),
        ("vxlan", 42, 8),
        ("ethernet", 50, 14),
        ("ipv4", 64, 20),
        ("tcp", 84, 20),
    ];
    assert_eq!(found, expected);
    assert!(account.slow_path.is_some());
    assert_eq!(account.connection.unwrap().after.server.port, 443);
    assert_eq!(account.records.len(), 1, "the tunnel, which began with it");
}

/// A question of DNS waits for its answer.
#[test]
fn dns_is_explained() {
    assert_eq!(story(22).inspect.unwrap().after.app.unwrap().name, "dns");
    let answer = story(23);
    assert!(answer.records.iter().any(|one| one.kind == "dns"));
}

/// A connection's packets are explained one after another, by either form of its identifier.
#[test]
fn a_connection_is_explained_packet_by_packet() {
    let plan = plan(Path::new(STORY));
    let (by_packet, _) = explain(&plan, Question::Packet(4));
    let uid = by_packet[0].connection.unwrap().after.uid;
    for wanted in [Wanted::Uid(uid), Wanted::FlowId(uid.flow_id())] {
        let (accounts, report) = explain(&plan, Question::Connection(wanted));
        let numbers: Vec<u64> = accounts.iter().map(|one| one.number).collect();
        assert_eq!(numbers, (1..=16).collect::<Vec<u64>>());
        let [connection] = report.connections.try_into().unwrap();
        assert_eq!((connection.uid, connection.packets), (uid, 16));
    }
}

/// A number that no packet has, and one that the filter left out.
#[test]
fn packets_that_are_not_there_are_told_apart() {
    let mut plan = plan(Path::new(STORY));
    let (accounts, report) = explain(&plan, Question::Packet(25));
    assert!(accounts.is_empty() && report.explained == 0 && !report.is_filtered);
    assert_eq!(report.packets, 24);
    plan.filter = "tcp".to_owned();
    let (_, report) = explain(&plan, Question::Packet(21));
    assert!(report.is_filtered);
}
