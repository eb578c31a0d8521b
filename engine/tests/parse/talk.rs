//! Connections to run over, and what a run tells of them.

use flowpin_config::{Format, Input, Plan};
use flowpin_engine::{Control, RunReport};
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;
use std::path::Path;

pub(crate) type Turns<'a> = &'a [(bool, &'a [u8])];

/// A TCP connection of one client, with its handshake and its end; each turn is cut into segments
/// of `size` bytes.
pub(crate) fn talk(turns: Turns<'_>, size: usize, host: u8) -> Vec<Vec<u8>> {
    talk_of(turns, size, u16::from(host))
}

pub(crate) fn talk_of(turns: Turns<'_>, size: usize, host: u16) -> Vec<Vec<u8>> {
    let [high, low] = host.to_be_bytes();
    let ip = Ip::v4([10, 0, high, low], [10, 1, 1, 2]);
    let (client, server) = (50_000, 50_001);
    let mut next = [1001u32, 5001];
    let ack = flags::ACK;
    let mut frames = vec![
        ip.tcp(Tcp::new(client, server, 1000, 0, flags::SYN), b""),
        ip.reversed()
            .tcp(Tcp::new(server, client, 5000, 1001, flags::SYN | ack), b""),
    ];
    let closing: Turns<'_> = &[(true, b""), (false, b"")];
    for (&(to_server, turn), is_end) in turns
        .iter()
        .map(|turn| (turn, false))
        .chain(closing.iter().map(|turn| (turn, true)))
    {
        let parts: Vec<&[u8]> = if is_end {
            vec![b""]
        } else {
            turn.chunks(size).collect()
        };
        for part in parts {
            let bits = if is_end { flags::FIN | ack } else { ack };
            let packet = if to_server {
                ip.tcp(Tcp::new(client, server, next[0], next[1], bits), part)
            } else {
                let back = Tcp::new(server, client, next[1], next[0], bits);
                ip.reversed().tcp(back, part)
            };
            let len = u32::try_from(part.len()).unwrap() + u32::from(is_end);
            next[usize::from(!to_server)] += len;
            frames.push(packet);
        }
    }
    frames.push(ip.tcp(Tcp::new(client, server, next[0], next[1], ack), b""));
    frames.iter().map(|packet| packet.ethernet()).collect()
}

/// A run over these frames.
pub(crate) fn run(
    frames: &[Vec<u8>],
    pipeline: &str,
    formats: &[Format],
    folder: &Path,
) -> RunReport {
    run_with(frames, pipeline, formats, folder, |_| {})
}

/// The same, with other settings.
pub(crate) fn run_with(
    frames: &[Vec<u8>],
    pipeline: &str,
    formats: &[Format],
    folder: &Path,
    change: impl FnOnce(&mut Plan),
) -> RunReport {
    let path = folder.join("talk.pcap");
    let timed = frames.iter().zip(1u64..);
    let bytes = ethernet_file(timed.map(|(frame, n)| (n * 1000, frame.as_slice()))).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let mut plan = Plan {
        inputs: vec![Input::File(path)],
        pipeline: pipeline.parse().unwrap(),
        ..Plan::default()
    };
    plan.output.formats = formats.to_vec();
    plan.output.dir = folder.to_owned();
    change(&mut plan);
    flowpin_engine::run(&plan, &Control::default(), &()).unwrap()
}

/// The events of a kind, as EVE has them.
pub(crate) fn events(frames: &[Vec<u8>], pipeline: &str, kind: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    run(frames, pipeline, &[Format::Eve], folder.path());
    let text = std::fs::read_to_string(folder.path().join("eve.json")).unwrap();
    let kind = format!("\"event_type\":\"{kind}\"");
    let lines = text.lines().filter(|line| line.contains(&kind));
    lines.map(str::to_owned).collect()
}

/// What an event says of its message alone: packets and times depend on how it was cut.
pub(crate) fn told(events: &[String], name: &str) -> Vec<String> {
    let key = format!("\"{name}\":{{");
    let part = |event: &String| {
        let (_, part) = event.split_once(&key).unwrap();
        part.split("},\"flowpin\"").next().unwrap().to_owned()
    };
    events.iter().map(part).collect()
}

pub(crate) const EXCHANGE: Turns<'_> = &[
    (true, b"GET /one HTTP/1.1\r\nHost: a.example\r\n\r\n"),
    (false, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    (
        true,
        b"POST /two HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n\r\nabc",
    ),
    (
        false,
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    ),
];
