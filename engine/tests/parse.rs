//! Messages inside a run: replay of what came before the verdict, gaps, hand-over, shapes, formats.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

use flowpin_config::{Format, Input, Plan};
use flowpin_counters::Loss;
use flowpin_engine::{Control, RunReport};
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;
use std::path::Path;

type Turns<'a> = &'a [(bool, &'a [u8])];

/// A TCP connection of one client, with its handshake and its end; each turn is cut into segments
/// of `size` bytes.
fn talk(turns: Turns<'_>, size: usize, host: u8) -> Vec<Vec<u8>> {
    talk_of(turns, size, u16::from(host))
}

fn talk_of(turns: Turns<'_>, size: usize, host: u16) -> Vec<Vec<u8>> {
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
fn run(frames: &[Vec<u8>], pipeline: &str, formats: &[Format], folder: &Path) -> RunReport {
    run_with(frames, pipeline, formats, folder, |_| {})
}

/// The same, with other settings.
fn run_with(
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
fn events(frames: &[Vec<u8>], pipeline: &str, kind: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    run(frames, pipeline, &[Format::Eve], folder.path());
    let text = std::fs::read_to_string(folder.path().join("eve.json")).unwrap();
    let kind = format!("\"event_type\":\"{kind}\"");
    let lines = text.lines().filter(|line| line.contains(&kind));
    lines.map(str::to_owned).collect()
}

/// What an event says of its message alone: packets and times depend on how it was cut.
fn told(events: &[String], name: &str) -> Vec<String> {
    let key = format!("\"{name}\":{{");
    let part = |event: &String| {
        let (_, part) = event.split_once(&key).unwrap();
        part.split("},\"flowpin\"").next().unwrap().to_owned()
    };
    events.iter().map(part).collect()
}

const EXCHANGE: Turns<'_> = &[
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

/// The parser hears the stream from its first byte, whenever the verdict came: one record for each
/// request, the same for every cut.
#[test]
fn a_parser_hears_what_came_before_its_verdict() {
    let whole = told(&events(&talk(EXCHANGE, 2000, 1), "1x1", "http"), "http");
    assert_eq!(whole.len(), 2, "{whole:?}");
    assert!(whole[0].contains("\"url\":\"/one\"") && whole[0].contains("\"status\":200"));
    assert!(whole[1].contains("\"url\":\"/two\"") && whole[1].contains("\"status\":404"));
    for size in [1, 2, 3, 5, 16, 17, 100] {
        let cut = told(&events(&talk(EXCHANGE, size, 1), "1x1", "http"), "http");
        assert_eq!(cut, whole, "segments of {size}");
    }
}

/// Whoever speaks first: a server's bytes that came before the client's verdict are there as well.
#[test]
fn both_directions_are_replayed_in_their_order() {
    let turns: Turns<'_> = &[
        (false, b"HTTP/1.1 200 OK\r\nContent-"),
        (true, b"GET /late HTTP/1.1\r\nHost: a.example\r\n\r\n"),
        (false, b"Length: 0\r\n\r\n"),
    ];
    for size in [1, 4, 1000] {
        let http = told(&events(&talk(turns, size, 1), "1x1", "http"), "http");
        let all = http.join("\n");
        assert!(
            all.contains("/late") && all.contains("200"),
            "{size}: {all}"
        );
    }
}

/// A DNS query for a name of nine letters, with `more` bytes behind it.
fn query(id: u8, more: usize) -> Vec<u8> {
    let mut bytes = vec![7, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 9];
    bytes.extend([b'a' + id; 9]);
    bytes.extend([0, 0, 1, 0, 1]);
    bytes.extend(vec![b'x'; more]);
    bytes
}

/// Datagrams before the verdict are replayed into the parser, however many there are.
#[test]
fn a_parser_hears_the_datagrams_before_its_verdict() {
    let ip = Ip::v4([10, 0, 0, 1], [10, 0, 1, 2]);
    for before in 0..11u8 {
        // With bytes behind them they could be anything, unless one is seen without.
        let sent = (0..before).map(|id| query(id, 3));
        let sent: Vec<Vec<u8>> = sent.chain([query(before, 0)]).collect();
        let frames: Vec<Vec<u8>> = sent
            .iter()
            .map(|bytes| ip.udp(50_000, 50_001, bytes).ethernet())
            .collect();
        let events = events(&frames, "1x1", "dns");
        assert_eq!(events.len(), usize::from(before) + 1, "{events:?}");
        for (event, id) in events.iter().zip(0u8..) {
            let name = String::from(char::from(b'a' + id)).repeat(9);
            assert!(event.contains(&name), "{event}");
        }
    }
}

/// A message of SIP whose method nobody knows could be anything; once an INVITE has told what is
/// spoken, it has its record too.
#[test]
fn messages_of_sip_before_the_verdict_are_told() {
    let ip = Ip::v4([10, 0, 0, 1], [10, 0, 1, 2]);
    let message = |method: &str, id: usize| {
        format!("{method} sip:b@b.example SIP/2.0\r\nCall-ID: {id}\r\nCSeq: 1 {method}\r\n\r\n")
    };
    for before in [0, 1, 3, 11] {
        let sent = (0..before).map(|id| message("GREET", id));
        let sent: Vec<String> = sent.chain([message("INVITE", before)]).collect();
        let frame = |text: &String| ip.udp(50_000, 50_001, text.as_bytes()).ethernet();
        let frames: Vec<Vec<u8>> = sent.iter().map(frame).collect();
        for pipeline in ["1x1", "2x2"] {
            let events = events(&frames, pipeline, "sip");
            assert_eq!(events.len(), before + 1, "{events:?}");
            let of = |method| events.iter().filter(|one| one.contains(method)).count();
            let counts = [of("\"method\":\"GREET\""), of("\"method\":\"INVITE\"")];
            assert_eq!(counts, [before, 1], "{events:?}");
        }
    }
}

/// Two Initials of one client, 60 bytes of its hello in the first. That has the bit cleared by
/// which QUIC is told (RFC 9287 allows it), so only the second is a verdict: the server's name is
/// known only if the first is replayed.
#[test]
fn a_hello_that_began_before_the_verdict_is_whole() {
    let first = "8a0000000108001122334455667704aabbccdd0040503c58008f8cdefdc801397df71b9b8d991932\
        d7e3e1e1eac6ea5627e8116457b2a617501d41a80b3b9942dd00878c00152527734a52f90b9b167e\
        29bfc271987183e6bb23d2221b81ec2233ffa62bb08b";
    let second = "c10000000108001122334455667704aabbccdd002cf231fc0c180e63b8a2b599edb31da099138fad\
        6c5d3bae9b5b29cfba1245907ead642025b59342191637ad3a";
    let bytes = |hex: &str| -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        let byte = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap();
        digits.map(byte).collect()
    };
    let ip = Ip::v4([10, 0, 0, 1], [10, 0, 1, 2]);
    let frame = |hex| ip.udp(50_000, 50_001, &bytes(hex)).ethernet();
    let told = events(&[frame(first), frame(second)], "1x1", "quic");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("\"sni\":\"late.example\""), "{told:?}");
    // Neither tells it alone.
    assert_eq!(events(&[frame(first)], "1x1", "quic").len(), 0);
    let told = events(&[frame(second)], "1x1", "quic");
    assert!(!told.concat().contains("late.example"), "{told:?}");
}

/// Bytes that the capture lacks are told; the next message is read all the same.
#[test]
fn a_gap_is_told_and_the_next_message_read() {
    let mut frames = talk(EXCHANGE, 2000, 1);
    // The first response.
    frames.remove(3);
    let http = told(&events(&frames, "1x1", "http"), "http");
    let all = http.join("\n");
    assert!(all.contains("/one") && all.contains("/two"), "{all}");
    assert!(all.contains("404"), "{all}");
}

/// RFC 9110 §9.3.6: behind CONNECT anything may come. The record of the request and that of what
/// it led to are both there, and count on.
#[test]
fn a_tunnel_is_looked_at_anew() {
    let mut hello = vec![22, 3, 1, 0, 47, 1, 0, 0, 43, 3, 3];
    hello.extend([7; 32]);
    hello.extend([0, 0, 4, 0x13, 1, 0x13, 2, 1, 0]);
    hello[4] = u8::try_from(hello.len() - 5).unwrap();
    hello[8] = u8::try_from(hello.len() - 9).unwrap();
    let turns: Turns<'_> = &[
        (
            true,
            b"CONNECT b.example:443 HTTP/1.1\r\nHost: b.example:443\r\n\r\n",
        ),
        (false, b"HTTP/1.1 200 Connection established\r\n\r\n"),
        (true, &hello),
    ];
    for size in [1, 9, 2000] {
        let frames = talk(turns, size, 1);
        let http = events(&frames, "1x1", "http");
        assert!(
            http.len() == 1 && http[0].contains("\"tx_id\":0"),
            "{http:?}"
        );
        let tls = events(&frames, "1x1", "tls");
        assert!(tls.len() == 1 && tls[0].contains("\"tx_id\":1"), "{tls:?}");
        let flow = events(&frames, "1x1", "flow");
        assert!(flow[0].contains("\"app_proto\":\"tls\""), "{flow:?}");
    }
}

/// RFC 6455 §5: what a WebSocket carries may be TLS, masked and in frames of any size.
#[test]
fn tls_inside_a_websocket_is_told() {
    let frame = |part: &[u8], key: Option<[u8; 4]>| {
        let mask = if key.is_some() { 0x80 } else { 0 };
        let key = key.unwrap_or_default();
        let masked = part
            .iter()
            .zip(key.iter().cycle())
            .map(|(byte, key)| byte ^ key);
        let head = vec![0x82, mask | u8::try_from(part.len()).unwrap()];
        let shown = if mask == 0 { &[][..] } else { &key[..] };
        head.into_iter()
            .chain(shown.iter().copied())
            .chain(masked)
            .collect::<Vec<u8>>()
    };
    let mut hello = vec![22, 3, 1, 0, 65, 1, 0, 0, 61, 3, 3];
    hello.extend([7; 32]);
    hello.extend(b"\0\0\x04\x13\x01\x13\x02\x01\0\0\x10\0\0\0\x0c\0\x0a\0\0\x07a.bc.de");
    hello[4] = u8::try_from(hello.len() - 5).unwrap();
    hello[8] = u8::try_from(hello.len() - 9).unwrap();
    let (one, other) = hello.split_at(20);
    let sent = [
        frame(one, Some([1, 2, 3, 4])),
        frame(other, Some([9, 8, 7, 6])),
    ]
    .concat();
    let asks = b"GET /t HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let agrees = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
    // The server's first frame may stand in the segment of its answer.
    let agrees = [agrees.as_slice(), &frame(b"\x16\x03\x03", None)].concat();
    let turns: Turns<'_> = &[(true, asks), (false, &agrees), (true, &sent)];
    for size in [1, 7, 2000] {
        let frames = talk(turns, size, 1);
        let tls = events(&frames, "2x2", "tls");
        assert!(
            tls.len() == 1 && tls[0].contains("\"sni\":\"a.bc.de\""),
            "{size}: {tls:?}"
        );
        let flow = events(&frames, "1x1", "flow");
        assert!(flow[0].contains("\"app_proto\":\"websocket\""), "{flow:?}");
    }
    // Anything else is let go.
    let texts = frame(b"\x16 is a text", Some([1, 2, 3, 4]));
    let turns: Turns<'_> = &[(true, asks), (false, &agrees[..56]), (true, &texts)];
    assert_eq!(events(&talk(turns, 2000, 1), "1x1", "tls").len(), 0);
}

/// What came before the verdict and was not kept is counted, and nothing else is.
#[test]
fn bytes_before_the_verdict_that_are_not_kept_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    // No rule knows the method: the answer tells.
    for (len, lost) in [(5000, 1), (500, 0)] {
        let head = format!("FOO / HTTP/1.1\r\nHost: h\r\nContent-Length: {len}\r\n\r\n");
        let request = [head.into_bytes(), vec![b'x'; len]].concat();
        let turns: Turns<'_> = &[(true, &request), (false, answer)];
        for pipeline in ["1x1", "2x3"] {
            let frames = talk(turns, 1400, 1);
            let report = run(&frames, pipeline, &[Format::None], folder.path());
            assert_eq!(report.losses.of(Loss::IdentifyFirstBytes), lost, "{len}");
        }
    }
}

/// Each switch of protocols has the stream looked at anew, from within the one before: in one
/// segment there may be thousands.
#[test]
fn a_stream_does_not_change_its_protocol_without_end() {
    let switches = b"HTTP/1.1 101 \r\n\r\n".repeat(3500);
    let turns: Turns<'_> = &[(false, &switches)];
    let folder = tempfile::tempdir().unwrap();
    let report = run(
        &talk(turns, 60_000, 1),
        "2x1",
        &[Format::None],
        folder.path(),
    );
    let losses: Vec<_> = report.losses.iter().collect();
    assert_eq!(losses, [(Loss::IdentifyChanges, 1)]);
}

/// The first promise, of messages too: all formats, the same bytes for every shape.
#[test]
fn messages_are_the_same_for_every_shape() {
    let mut frames: Vec<Vec<Vec<u8>>> = (1..30)
        .map(|host| talk(EXCHANGE, usize::from(host) * 7, host))
        .collect();
    // Taken in turns, so that connections overlap.
    let mut mixed = Vec::new();
    while frames.iter().any(|one| !one.is_empty()) {
        for one in &mut frames {
            if !one.is_empty() {
                mixed.push(one.remove(0));
            }
        }
    }
    let formats = [
        Format::Eve,
        Format::ZeekTsv,
        Format::ZeekJson,
        Format::Csv,
        Format::Parquet,
    ];
    let written = |pipeline: &str| {
        let folder = tempfile::tempdir().unwrap();
        let report = run(&mixed, pipeline, &formats, folder.path());
        assert_eq!(report.parse.connections, 29);
        let http = report.messages.iter().find(|kind| kind.name == "http");
        assert_eq!(http.unwrap().written, 58);
        [
            "eve.json",
            "http.log",
            "http.json",
            "http.csv",
            "http.parquet",
        ]
        .map(|file| std::fs::read(folder.path().join(file)).unwrap())
    };
    let reference = written("1x1");
    for pipeline in ["2x1", "2x2", "3x2"] {
        assert!(written(pipeline) == reference, "{pipeline}");
    }
}

/// Without parsers there are no messages and no files for them; protocols are told as before.
#[test]
fn parsing_can_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.pcap");
    let frames = talk(EXCHANGE, 2000, 1);
    let timed = frames.iter().zip(1u64..);
    let bytes = ethernet_file(timed.map(|(frame, n)| (n * 1000, frame.as_slice()))).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let mut plan = Plan {
        inputs: vec![Input::File(path)],
        ..Plan::default()
    };
    plan.parse.enabled = false;
    plan.output.formats = vec![Format::ZeekTsv];
    plan.output.dir = folder.path().to_owned();
    let report = flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    assert_eq!(report.parse.connections, 0);
    assert_eq!(report.found.connections.by_app["http"].connections, 1);
    assert!(!folder.path().join("http.log").exists());
}

/// Connections of each parser, several in a shard: with hardly any memory most are cut short, and
/// what is left is the same for every shape.
#[test]
fn messages_are_the_same_for_every_shape_where_caps_are_met() {
    let hello = {
        let mut hello = vec![22, 3, 1, 8, 4, 1, 0, 8, 0, 3, 3];
        hello.resize(5 + 0x804, 0);
        hello
    };
    let long = [b'v'; 3000];
    let mail = [
        b"MAIL FROM:<a>\r\nDATA\r\nSubject: ".as_slice(),
        &long,
        b"\r\n",
    ]
    .concat();
    let set = [b"*2\r\n$3\r\nGET\r\n$3000\r\n".as_slice(), &long, b"\r\n"].concat();
    let invite = [
        b"INVITE sip:a SIP/2.0\r\nSubject: ".as_slice(),
        &long,
        b"\r\n\r\n",
    ]
    .concat();
    let order = b"8=FIX.4.4\x019=3019\x0135=D\x0111=a\x0158=";
    let order = [order.as_slice(), &long, b"\x01"].concat();
    let query = b"\0\x11\0\x07\x01\0\0\x01\0\0\0\0\0\0\0\0\x01\0\x01";
    let query = [query.as_slice(), b"\x0b\xb8\0\x08\x01\0\0\x01", &long].concat();
    let get = [
        b"GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: ".as_slice(),
        &long,
        b"\r\n\r\n",
    ]
    .concat();
    let talks: [Turns<'_>; 7] = [
        &[
            (true, &get),
            (true, &get),
            (true, &get),
            (false, b"HTTP/1.1 200 OK\r\n\r\nx"),
        ],
        &[
            (true, &hello),
            (false, b"\x16\x03\x03\x08\x04\x02\0\x08\0\x03\x03abc"),
        ],
        &[(true, &order), (true, &order[..2000])],
        &[(true, &query), (false, &query[..1000])],
        &[
            (false, b"220 a ESMTP\r\n"),
            (true, b"EHLO a\r\n"),
            (false, b"250 a\r\n"),
            (true, &mail),
        ],
        &[(true, &set), (true, &set), (false, b"+OK\r\n")],
        &[
            (true, &invite),
            (false, b"SIP/2.0 200 OK\r\n\r\n"),
            (true, &invite),
        ],
    ];
    let mut frames: Vec<std::vec::IntoIter<Vec<u8>>> = (0..4200u16)
        .map(|nth| talk_of(talks[usize::from(nth) % 7], 700, nth).into_iter())
        .collect();
    let mut mixed = Vec::new();
    loop {
        let before = mixed.len();
        mixed.extend(frames.iter_mut().filter_map(Iterator::next));
        if mixed.len() == before {
            break;
        }
    }
    let written = |pipeline: &str| {
        let folder = tempfile::tempdir().unwrap();
        let change = |plan: &mut Plan| plan.memory_bytes = 1 << 20;
        let report = run_with(&mixed, pipeline, &[Format::Eve], folder.path(), change);
        let met: Vec<Loss> = report.losses.iter().map(|(loss, _)| loss).collect();
        (met, std::fs::read(folder.path().join("eve.json")).unwrap())
    };
    let reference = written("1x1");
    let evicted = Loss::ConnectionsEvicted;
    assert!(reference.0.contains(&evicted), "{:?}", reference.0);
    for pipeline in ["2x1", "2x3"] {
        assert!(written(pipeline) == reference, "{pipeline}");
    }
}

/// Connections one after the other, so many of them open at a time.
fn in_turn(turns: Turns<'_>, count: u16, open: usize) -> Vec<Vec<u8>> {
    let mut waiting = (0..count).map(|nth| talk_of(turns, 1400, nth).into_iter());
    let mut talking: Vec<_> = waiting.by_ref().take(open).collect();
    let mut frames = Vec::new();
    while !talking.is_empty() {
        talking.retain_mut(|one| match one.next() {
            Some(frame) => {
                frames.push(frame);
                true
            }
            None => match waiting.next() {
                Some(next) => {
                    *one = next;
                    true
                }
                None => false,
            },
        });
        // Not all in step: those in front are ahead.
        let ahead = talking.len() / 2;
        talking.rotate_left(ahead);
    }
    frames
}

/// What a parser has of a connection is free for others as soon as both sides have closed it, not
/// only when the connection table lets go of it: of short connections, however many, none is left
/// out. What was begun and not answered is told there and then.
#[test]
fn a_closed_connection_makes_room_for_others_at_once() {
    let fix = b"8=FIX.4.2\x019=41\x0135=0\x0149=A\x0156=B\x0134=1\x0152=20260101-00:00:00\x0110=";
    let sum = fix[..fix.len() - 3].iter().map(|&byte| u32::from(byte));
    let sum = format!("{:03}\x01", sum.sum::<u32>() % 256);
    let heartbeat = [fix.as_slice(), sum.as_bytes()].concat();
    let query = b"\0\x11\0\x07\x01\0\0\x01\0\0\0\0\0\0\0\0\x01\0\x01";
    let talks: [(&str, Turns<'_>, usize); 5] = [
        ("fix", &[(true, &heartbeat), (false, &heartbeat)], 2),
        (
            "smtp",
            &[
                (false, b"220 mx.example ESMTP\r\n"),
                (true, b"EHLO a\r\n"),
                (false, b"250 ok\r\n"),
                (true, b"MAIL FROM:<a@b>\r\n"),
            ],
            1,
        ),
        ("redis", &[(true, b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n")], 1),
        ("dns", &[(true, query)], 1),
        (
            "sip",
            &[(true, b"OPTIONS sip:a SIP/2.0\r\nCall-ID: 1\r\n\r\n")],
            1,
        ),
    ];
    for (name, turns, records) in talks {
        let count = 20_000;
        let frames = in_turn(turns, count, 101);
        let lines = |pipeline: &str| {
            let folder = tempfile::tempdir().unwrap();
            let report = run_with(&frames, pipeline, &[Format::Eve], folder.path(), |plan| {
                plan.memory_bytes = 32 << 20;
            });
            // All of them are one session of FIX, whose numbers begin anew again and again.
            let lost = report.losses.iter().map(|(loss, _)| loss);
            let lost: Vec<Loss> = lost
                .filter(|&loss| loss != Loss::AnomaliesSuppressed)
                .collect();
            assert_eq!(lost, [], "{name}");
            assert_eq!(report.parse.connections, u64::from(count), "{name}");
            std::fs::read_to_string(folder.path().join("eve.json")).unwrap()
        };
        let written = lines("1x1");
        let kind = format!("\"event_type\":\"{name}\"");
        let told = written.lines().filter(|line| line.contains(&kind)).count();
        assert_eq!(told, usize::from(count) * records, "{name}");
        assert!(lines("2x3") == written, "{name}");
    }
}
