//! A protocol that its parser brings whole: found, read and written, with nothing of it elsewhere.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

use flowpin_config::{Format, Input, Plan};
use flowpin_engine::{Control, RunReport};
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;
use std::path::Path;

/// What upscmd 2.8.0 and upsd say to each other, then STARTTLS and a hello of TLS.
const TURNS: &[(bool, &[u8])] = &[
    (true, b"USERNAME admin\n"),
    (false, b"OK\n"),
    (true, b"PASSWORD hush-hush\n"),
    (false, b"OK\n"),
    (true, b"SET VAR lab battery.charge \"50\"\n"),
    (false, b"OK\n"),
    (true, b"INSTCMD lab load.off\n"),
    (false, b"ERR ACCESS-DENIED\n"),
    (true, b"LIST VAR lab\n"),
    (
        false,
        b"BEGIN LIST VAR lab\nVAR lab ups.status \"OL\"\nEND LIST VAR lab\n",
    ),
    (true, b"STARTTLS\n"),
    (false, b"OK STARTTLS\n"),
];

/// A connection on any port, in segments of `size` bytes.
fn frames(size: usize) -> Vec<Vec<u8>> {
    let ip = Ip::v4([10, 0, 0, 1], [10, 1, 1, 2]);
    let ports = [50_000, 50_001];
    let mut next = [1001u32, 5001];
    let syn = ip.tcp(Tcp::new(ports[0], ports[1], 1000, 0, flags::SYN), b"");
    let both = Tcp::new(ports[1], ports[0], 5000, 1001, flags::SYN | flags::ACK);
    let mut all = vec![syn, ip.reversed().tcp(both, b"")];
    let parts = TURNS
        .iter()
        .flat_map(|&(to_server, turn)| turn.chunks(size).map(move |part| (to_server, part)));
    for (to_server, part) in parts {
        let [client, server] = next;
        all.push(if to_server {
            let segment = Tcp::new(ports[0], ports[1], client, server, flags::ACK);
            ip.tcp(segment, part)
        } else {
            let segment = Tcp::new(ports[1], ports[0], server, client, flags::ACK);
            ip.reversed().tcp(segment, part)
        });
        next[usize::from(!to_server)] += u32::try_from(part.len()).unwrap();
    }
    all.iter().map(|packet| packet.ethernet()).collect()
}

fn run(size: usize, pipeline: &str, folder: &Path, change: impl FnOnce(&mut Plan)) -> RunReport {
    let path = folder.join("talk.pcap");
    let frames = frames(size);
    let timed = frames.iter().zip(1u64..);
    let bytes = ethernet_file(timed.map(|(frame, n)| (n * 1000, frame.as_slice()))).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let mut plan = Plan {
        inputs: vec![Input::File(path)],
        pipeline: pipeline.parse().unwrap(),
        ..Plan::default()
    };
    plan.output.formats = vec![Format::Eve, Format::ZeekTsv, Format::Csv];
    plan.output.dir = folder.to_owned();
    change(&mut plan);
    flowpin_engine::run(&plan, &Control::default(), &()).unwrap()
}

/// Its crate's signature finds it, its schema is in every format, and what it hides is in none.
#[test]
fn what_a_parser_brings_is_found_read_and_written() {
    let mut first = None;
    for (size, pipeline) in [(1000, "1x1"), (1, "1x1"), (3, "2x2")] {
        let folder = tempfile::tempdir().unwrap();
        run(size, pipeline, folder.path(), |_| {});
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let eve = read("eve.json");
        assert!(eve.contains("\"app_proto\":\"nut\""), "{eve}");
        let events = eve
            .lines()
            .filter(|one| one.contains("\"event_type\":\"nut\""));
        let told: Vec<String> = events
            .map(|one| one.split_once("\"nut\":{").unwrap().1.to_owned())
            .map(|one| one.split('}').next().unwrap().to_owned())
            .collect();
        assert_eq!(told.len(), 6, "{told:?}");
        assert!(
            told[2].contains("\"name\":\"battery.charge\",\"value\":\"50\",\"user\":\"admin\"")
        );
        assert!(told[3].contains("\"error\":\"ACCESS-DENIED\""), "{told:?}");
        assert!(told[4].contains("\"items\":1"), "{told:?}");
        assert_eq!(
            *first.get_or_insert(told.clone()),
            told,
            "segments of {size}"
        );
        for text in [eve, read("nut.log"), read("nut.csv")] {
            assert!(text.contains("INSTCMD") && !text.contains("hush-hush"));
        }
    }
}

/// The user chooses it by the name that it gives its messages, like any other.
#[test]
fn its_messages_are_wanted_by_its_name() {
    for (wanted, messages) in [("nut", 6), ("http", 0)] {
        let folder = tempfile::tempdir().unwrap();
        let report = run(1000, "1x1", folder.path(), |plan| {
            plan.parse.protocols = vec![wanted.to_owned()];
        });
        assert_eq!(report.parse.messages, messages, "{wanted}");
    }
    assert!(flowpin_engine::finds("nut") && flowpin_engine::record_names().contains("nut"));
    let protocols = flowpin_engine::protocols().unwrap();
    assert!(protocols.iter().any(|one| one.name == "nut"));
}
