//! Conversations in packets, messages of some protocols, and what becomes of them.

use flowpin_config::{Format, Input, Plan};
use flowpin_engine::{Control, RunError, RunReport};
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;
use std::path::Path;

pub(crate) type Turns<'a> = &'a [(bool, &'a [u8])];

pub(crate) const PORTS: (u16, u16) = (50_000, 50_001);

fn ip(host: u8) -> Ip {
    Ip::v4([10, 0, 0, host], [10, 1, 1, 2])
}

/// A TCP connection with its handshake and end; each turn is cut into segments of `size` bytes.
pub(crate) fn stream(turns: Turns<'_>, size: usize) -> Vec<Vec<u8>> {
    stream_of(1, turns, size)
}

pub(crate) fn stream_of(host: u8, turns: Turns<'_>, size: usize) -> Vec<Vec<u8>> {
    let (ip, (client, server), ack) = (ip(host), PORTS, flags::ACK);
    let mut next = [1001u32, 5001];
    let mut frames = vec![
        ip.tcp(Tcp::new(client, server, 1000, 0, flags::SYN), b""),
        ip.reversed()
            .tcp(Tcp::new(server, client, 5000, 1001, flags::SYN | ack), b""),
    ];
    let mut send = |to_server: bool, bits: u8, part: &[u8]| {
        let [to, back] = next;
        frames.push(if to_server {
            ip.tcp(Tcp::new(client, server, to, back, bits), part)
        } else {
            ip.reversed()
                .tcp(Tcp::new(server, client, back, to, bits), part)
        });
        let is_end = u32::from(bits & flags::FIN != 0);
        next[usize::from(!to_server)] += u32::try_from(part.len()).unwrap() + is_end;
    };
    for &(to_server, turn) in turns {
        for part in turn.chunks(size) {
            send(to_server, ack, part);
        }
    }
    send(true, flags::FIN | ack, b"");
    send(false, flags::FIN | ack, b"");
    frames.iter().map(|packet| packet.ethernet()).collect()
}

pub(crate) fn datagrams(turns: Turns<'_>) -> Vec<Vec<u8>> {
    let (ip, (client, server)) = (ip(1), PORTS);
    let one = |&(to_server, bytes): &(bool, &[u8])| {
        if to_server {
            ip.udp(client, server, bytes).ethernet()
        } else {
            ip.reversed().udp(server, client, bytes).ethernet()
        }
    };
    turns.iter().map(one).collect()
}

pub(crate) fn run(frames: &[Vec<u8>], pipeline: &str) -> (RunReport, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.pcap");
    let timed = frames.iter().zip(1u64..);
    let bytes = ethernet_file(timed.map(|(frame, n)| (n * 1000, frame.as_slice()))).unwrap();
    std::fs::write(&path, bytes).unwrap();
    run_file(&path, pipeline).unwrap()
}

/// The report and the events of a capture.
pub(crate) fn run_file(capture: &Path, pipeline: &str) -> Result<(RunReport, String), RunError> {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = Plan {
        inputs: vec![Input::File(capture.to_owned())],
        pipeline: pipeline.parse().unwrap(),
        ..Plan::default()
    };
    // Rules that are compiled once for all runs.
    plan.identify.cache = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("doubt"));
    plan.output.formats = vec![Format::Eve];
    plan.output.dir = folder.path().to_owned();
    let report = flowpin_engine::run(&plan, &Control::default(), &())?;
    let records = std::fs::read_to_string(folder.path().join("eve.json")).unwrap();
    Ok((report, records))
}

/// What the connection is in the end, and how many messages of that it has.
pub(crate) fn named(records: &str) -> (String, usize) {
    let flow = records
        .lines()
        .find(|line| line.contains("\"event_type\":\"flow\""))
        .unwrap();
    let name = flow.split("\"app_proto\":\"").nth(1).unwrap();
    let name = name.split('"').next().unwrap().to_owned();
    let kind = format!("\"event_type\":\"{name}\"");
    (name, records.matches(&kind).count())
}

pub(crate) fn client_hello() -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend([0, 0, 4, 0x13, 1, 0x13, 2, 1, 0]);
    let len = |len: usize| u8::try_from(len).unwrap();
    let mut hello = vec![22, 3, 1, 0, len(body.len() + 4), 1, 0, 0, len(body.len())];
    hello.extend(body);
    hello
}

pub(crate) fn server_hello() -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([9; 32]);
    body.extend([0, 0x13, 1, 0]);
    let len = |len: usize| u8::try_from(len).unwrap();
    let mut hello = vec![22, 3, 3, 0, len(body.len() + 4), 2, 0, 0, len(body.len())];
    hello.extend(body);
    hello
}

pub(crate) fn query(id: u8) -> Vec<u8> {
    let mut query = vec![0x12, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    query.extend(b"\x07example\x03org\0\0\x01\0\x01");
    query
}

pub(crate) fn answer(id: u8) -> Vec<u8> {
    let mut answer = query(id);
    answer[2] = 0x81;
    answer[7] = 1;
    answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4]);
    answer
}

pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    let len = u16::try_from(message.len()).unwrap();
    [&len.to_be_bytes(), message].concat()
}

pub(crate) fn fix(kind: &str, number: u8) -> Vec<u8> {
    let body = format!("35={kind}\x0149=A\x0156=B\x0134={number}\x0152=20260101-00:00:00\x01");
    let message = format!("8=FIX.4.2\x019={}\x01{body}", body.len());
    let sum = message.bytes().fold(0u8, u8::wrapping_add);
    format!("{message}10={sum:03}\x01").into_bytes()
}

pub(crate) const STUN: &[u8] = b"\0\x01\0\0\x21\x12\xa4\x42abcdefghijkl";

/// An Initial of QUIC by its outside, with nothing in it.
pub(crate) fn empty_initial() -> Vec<u8> {
    let mut bytes = vec![0xc0, 0, 0, 0, 1, 8];
    bytes.extend([7; 8]);
    bytes.extend([0, 0, 0x44, 0x9e]);
    bytes.resize(1200, 0x5a);
    bytes
}

/// The same records from two shapes; the connection's name, and how many records it has of that.
pub(crate) fn in_two_shapes(turns: Turns<'_>, size: usize) -> (String, usize, String) {
    let frames = stream(turns, size);
    let (_, records) = run(&frames, "1x1");
    assert_eq!(records, run(&frames, "2x2").1);
    let (name, messages) = named(&records);
    (name, messages, records)
}

pub(crate) const INVITE: &[u8] =
    b"INVITE sip:b@c.example SIP/2.0\r\nVia: SIP/2.0/UDP a;branch=z9\r\n\
    From: <sip:a@c.example>;tag=1\r\nTo: <sip:b@c.example>\r\nCall-ID: x1\r\nCSeq: 1 INVITE\r\n\
    Content-Length: 0\r\n\r\n";

pub(crate) const RINGING: &[u8] = b"SIP/2.0 180 Ringing\r\nVia: SIP/2.0/UDP a;branch=z9\r\n\
    From: <sip:a@c.example>;tag=1\r\nTo: <sip:b@c.example>;tag=2\r\nCall-ID: x1\r\n\
    CSeq: 1 INVITE\r\nContent-Length: 0\r\n\r\n";

pub(crate) const BAD: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";

pub(crate) const GET: &[u8] = b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n";

pub(crate) const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
