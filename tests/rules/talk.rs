//! Connections, rules, and the alerts of a run over both.

use flowpin_config::{Format, Input, Plan};
use flowpin_engine::{Control, RunReport};
use flowpin_rules::Reader;
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

pub(crate) type Turns<'a> = &'a [(bool, &'a [u8])];

/// A TCP connection of one client with its handshake and its end; each turn is cut into segments of
/// `size` bytes.
pub(crate) fn talk(turns: Turns<'_>, size: usize, host: u8) -> Vec<Vec<u8>> {
    let ip = Ip::v4([10, 0, 0, host], [10, 1, 1, 2]);
    let (client, server) = (50_000, 80);
    let mut next = [1001_u32, 5001];
    let ack = flags::ACK;
    let mut frames = vec![
        ip.tcp(Tcp::new(client, server, 1000, 0, flags::SYN), b""),
        ip.reversed()
            .tcp(Tcp::new(server, client, 5000, 1001, flags::SYN | ack), b""),
        ip.tcp(Tcp::new(client, server, 1001, 5001, ack), b""),
    ];
    let ends: Turns<'_> = &[(true, b""), (false, b"")];
    let all = turns.iter().map(|turn| (turn, false));
    for (&(to_server, turn), is_end) in all.chain(ends.iter().map(|turn| (turn, true))) {
        let parts: Vec<&[u8]> = match is_end {
            true => vec![b""],
            false => turn.chunks(size).collect(),
        };
        for part in parts {
            let bits = if is_end { flags::FIN | ack } else { ack };
            frames.push(match to_server {
                true => ip.tcp(Tcp::new(client, server, next[0], next[1], bits), part),
                false => {
                    let back = Tcp::new(server, client, next[1], next[0], bits);
                    ip.reversed().tcp(back, part)
                }
            });
            let len = u32::try_from(part.len()).unwrap() + u32::from(is_end);
            next[usize::from(!to_server)] += len;
        }
    }
    frames.push(ip.tcp(Tcp::new(client, server, next[0], next[1], ack), b""));
    frames.iter().map(|packet| packet.ethernet()).collect()
}

/// Connections that overlap: a packet of each in turn.
pub(crate) fn mixed(mut all: Vec<Vec<Vec<u8>>>) -> Vec<Vec<u8>> {
    let mut mixed = Vec::new();
    while all.iter().any(|one| !one.is_empty()) {
        for one in all.iter_mut().filter(|one| !one.is_empty()) {
            mixed.push(one.remove(0));
        }
    }
    mixed
}

/// A plan with these rules.
pub(crate) fn plan(rules: &str) -> Plan {
    let mut reader = Reader::default();
    reader.read_text("test.rules", rules);
    let loaded = reader.finish();
    assert!(loaded.problems.is_empty(), "{}", loaded.problems[0]);
    let mut plan = Plan::default();
    plan.rules.loaded = Some(Arc::new(loaded.set));
    plan
}

/// A run over frames, a millisecond apart.
pub(crate) fn run(frames: &[Vec<u8>], mut plan: Plan, folder: &Path) -> RunReport {
    let path = folder.join("talk.pcap");
    let timed = frames.iter().zip(1_u64..);
    let timed = timed.map(|(frame, n)| (n * 1_000_000, frame.as_slice()));
    std::fs::write(&path, ethernet_file(timed).unwrap()).unwrap();
    plan.inputs = vec![Input::File(path)];
    plan.output.formats = vec![Format::Eve];
    plan.output.dir = folder.to_owned();
    flowpin_engine::run(&plan, &Control::default(), &()).unwrap()
}

/// The EVE log of a run.
pub(crate) fn log(frames: &[Vec<u8>], plan: Plan) -> String {
    let folder = tempfile::tempdir().unwrap();
    run(frames, plan, folder.path());
    std::fs::read_to_string(folder.path().join("eve.json")).unwrap()
}

/// The alerts of a run, as EVE has them.
pub(crate) fn alerts(frames: &[Vec<u8>], plan: Plan) -> Vec<Value> {
    let log = log(frames, plan);
    let events = log.lines().map(|line| serde_json::from_str(line).unwrap());
    events
        .filter(|event: &Value| event["event_type"] == "alert")
        .collect()
}

/// The numbers of the rules that alert, in order.
pub(crate) fn sids(frames: &[Vec<u8>], rules: &str) -> Vec<u64> {
    let alerts = alerts(frames, plan(rules));
    let sids = alerts
        .iter()
        .map(|one| one["alert"]["signature_id"].as_u64().unwrap());
    sids.collect()
}

pub(crate) const EXCHANGE: Turns<'_> = &[
    (
        true,
        b"GET /one%2fx?q=1 HTTP/1.1\r\nHost: A.Example\r\nUser-Agent: curl/8\r\n\
          Cookie: c=1\r\n\r\n",
    ),
    (
        false,
        b"HTTP/1.1 200 OK\r\nServer: s\r\nContent-Length: 11\r\n\r\nhello world",
    ),
    (
        true,
        b"POST /two HTTP/1.1\r\nHost: a.example\r\nContent-Length: 6\r\n\r\nsecret",
    ),
    (
        false,
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    ),
];
