//! Gopher: found on any port by its menus and by its requests, one record for each connection.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

use flowpin_config::{Format, Input, Plan};
use flowpin_engine::Control;
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;
use std::path::Path;

/// Request, answer, and what the record says.
const TALKS: &[(&[u8], &[u8], &str)] = &[
    (
        b"\r\n",
        b"0About\t0/about.txt\ta.example\t70\r\n.\r\n",
        "\"selector\":\"\",\"answer_bytes\":36,\"truncated\":false",
    ),
    (
        b"0/about.txt\r\n",
        b"A text.\r\n.\r\n",
        "\"selector\":\"0/about.txt\",\"item_type\":\"0\",\"answer_bytes\":12,\"truncated\":false",
    ),
    (
        b"7/find\tred fish\r\n",
        b"0One\t0/one\ta.example\t70\r\n.\r\n",
        "\"selector\":\"7/find\",\"item_type\":\"7\",\"query\":\"red fish\",\"answer_bytes\":28",
    ),
    (
        b"I/a.gif\r\n",
        b"GIF89a\x01\x00\x01\x00\x80\x00\x00",
        "\"selector\":\"I/a.gif\",\"item_type\":\"I\",\"answer_bytes\":13",
    ),
];

/// A connection on any port, in segments of `size` bytes, that the server closes.
fn frames(number: u16, size: usize) -> Vec<Vec<u8>> {
    let (request, answer, _) = TALKS[usize::from(number)];
    let ip = Ip::v4([10, 0, 0, 1], [10, 1, 1, 2]);
    let ports = [50_000 + number, 50_100];
    let mut next = [1001u32, 5001];
    let syn = ip.tcp(Tcp::new(ports[0], ports[1], 1000, 0, flags::SYN), b"");
    let both = Tcp::new(ports[1], ports[0], 5000, 1001, flags::SYN | flags::ACK);
    let mut all = vec![syn, ip.reversed().tcp(both, b"")];
    for (to_server, turn) in [(true, request), (false, answer)] {
        for part in turn.chunks(size) {
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
    }
    let [client, server] = next;
    let fin = flags::FIN | flags::ACK;
    let close = Tcp::new(ports[1], ports[0], server, client, fin);
    all.push(ip.reversed().tcp(close, b""));
    let close = Tcp::new(ports[0], ports[1], client, server + 1, fin);
    all.push(ip.tcp(close, b""));
    all.iter().map(|packet| packet.ethernet()).collect()
}

fn run(size: usize, pipeline: &str, folder: &Path) {
    let path = folder.join("talk.pcap");
    let frames: Vec<_> = (0..4).flat_map(|number| frames(number, size)).collect();
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
    flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
}

/// Menus, texts and pictures, whatever the server's port is.
#[test]
fn each_request_has_a_record() {
    for (size, pipeline) in [(1000, "1x1"), (1, "1x1"), (3, "2x2")] {
        let folder = tempfile::tempdir().unwrap();
        run(size, pipeline, folder.path());
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let eve = read("eve.json");
        let events: Vec<_> = eve
            .lines()
            .filter(|one| one.contains("\"event_type\":\"gopher\""))
            .collect();
        assert_eq!(events.len(), TALKS.len(), "segments of {size}: {eve}");
        for (event, (.., told)) in events.iter().zip(TALKS) {
            assert!(event.contains("\"app_proto\":\"gopher\""), "{event}");
            assert!(event.contains(told), "segments of {size}: {event} {told}");
        }
        for text in [read("gopher.log"), read("gopher.csv")] {
            assert!(text.contains("0/about.txt"), "{text}");
        }
    }
}
