//! Verdicts that are taken back: junk in front of what is really spoken, over each transport.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

use flowpin_config::{Format, Input, Plan};
use flowpin_counters::Loss;
use flowpin_engine::{Control, RunReport};
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;

type Turns<'a> = &'a [(bool, &'a [u8])];

const PORTS: (u16, u16) = (50_000, 50_001);

fn ip(host: u8) -> Ip {
    Ip::v4([10, 0, 0, host], [10, 1, 1, 2])
}

/// A TCP connection with its handshake and end; each turn is cut into segments of `size` bytes.
fn stream(turns: Turns<'_>, size: usize) -> Vec<Vec<u8>> {
    stream_of(1, turns, size)
}

fn stream_of(host: u8, turns: Turns<'_>, size: usize) -> Vec<Vec<u8>> {
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

fn datagrams(turns: Turns<'_>) -> Vec<Vec<u8>> {
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

fn run(frames: &[Vec<u8>], pipeline: &str) -> (RunReport, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.pcap");
    let timed = frames.iter().zip(1u64..);
    let bytes = ethernet_file(timed.map(|(frame, n)| (n * 1000, frame.as_slice()))).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let mut plan = Plan {
        inputs: vec![Input::File(path)],
        pipeline: pipeline.parse().unwrap(),
        ..Plan::default()
    };
    plan.output.formats = vec![Format::Eve];
    plan.output.dir = folder.path().to_owned();
    let report = flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    let records = std::fs::read_to_string(folder.path().join("eve.json")).unwrap();
    (report, records)
}

/// What the connection is in the end, and how many messages of that it has.
fn named(records: &str) -> (String, usize) {
    let flow = records
        .lines()
        .find(|line| line.contains("\"event_type\":\"flow\""))
        .unwrap();
    let name = flow.split("\"app_proto\":\"").nth(1).unwrap();
    let name = name.split('"').next().unwrap().to_owned();
    let kind = format!("\"event_type\":\"{name}\"");
    (name, records.matches(&kind).count())
}

fn client_hello() -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend([0, 0, 4, 0x13, 1, 0x13, 2, 1, 0]);
    let len = |len: usize| u8::try_from(len).unwrap();
    let mut hello = vec![22, 3, 1, 0, len(body.len() + 4), 1, 0, 0, len(body.len())];
    hello.extend(body);
    hello
}

fn server_hello() -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([9; 32]);
    body.extend([0, 0x13, 1, 0]);
    let len = |len: usize| u8::try_from(len).unwrap();
    let mut hello = vec![22, 3, 3, 0, len(body.len() + 4), 2, 0, 0, len(body.len())];
    hello.extend(body);
    hello
}

fn query(id: u8) -> Vec<u8> {
    let mut query = vec![0x12, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    query.extend(b"\x07example\x03org\0\0\x01\0\x01");
    query
}

fn answer(id: u8) -> Vec<u8> {
    let mut answer = query(id);
    answer[2] = 0x81;
    answer[7] = 1;
    answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4]);
    answer
}

fn framed(message: &[u8]) -> Vec<u8> {
    let len = u16::try_from(message.len()).unwrap();
    [&len.to_be_bytes(), message].concat()
}

fn fix(kind: &str, number: u8) -> Vec<u8> {
    let body = format!("35={kind}\x0149=A\x0156=B\x0134={number}\x0152=20260101-00:00:00\x01");
    let message = format!("8=FIX.4.2\x019={}\x01{body}", body.len());
    let sum = message.bytes().fold(0u8, u8::wrapping_add);
    format!("{message}10={sum:03}\x01").into_bytes()
}

const STUN: &[u8] = b"\0\x01\0\0\x21\x12\xa4\x42abcdefghijkl";

/// An Initial of QUIC by its outside, with nothing in it.
fn empty_initial() -> Vec<u8> {
    let mut bytes = vec![0xc0, 0, 0, 0, 1, 8];
    bytes.extend([7; 8]);
    bytes.extend([0, 0, 0x44, 0x9e]);
    bytes.resize(1200, 0x5a);
    bytes
}

/// What stands in front.
fn junk_datagrams() -> Vec<(&'static str, Vec<u8>)> {
    let random = (0..40u8).map(|n| n.wrapping_mul(151) ^ 0xe7).collect();
    vec![
        ("random", random),
        ("zeros", vec![0; 64]),
        ("one byte", vec![0]),
        ("stun", STUN.to_vec()),
        ("dns", query(9)),
        ("quic", empty_initial()),
        ("sip", b"OPTIONS sip:a SIP/2.0\r\n\r\n".to_vec()),
        ("keep-alive", b"\r\n\r\n".to_vec()),
    ]
}

const INVITE: &[u8] = b"INVITE sip:b@c.example SIP/2.0\r\nVia: SIP/2.0/UDP a;branch=z9\r\n\
    From: <sip:a@c.example>;tag=1\r\nTo: <sip:b@c.example>\r\nCall-ID: x1\r\nCSeq: 1 INVITE\r\n\
    Content-Length: 0\r\n\r\n";
const RINGING: &[u8] = b"SIP/2.0 180 Ringing\r\nVia: SIP/2.0/UDP a;branch=z9\r\n\
    From: <sip:a@c.example>;tag=1\r\nTo: <sip:b@c.example>;tag=2\r\nCall-ID: x1\r\n\
    CSeq: 1 INVITE\r\nContent-Length: 0\r\n\r\n";

/// Whatever one datagram looks like, those behind it name the connection and are read.
#[test]
fn one_junk_datagram_names_nothing_for_good() {
    let dns = [query(1), answer(1), query(2), answer(2)];
    let dns: Vec<(bool, &[u8])> = dns
        .iter()
        .zip([true, false].into_iter().cycle())
        .map(|(bytes, to_server)| (to_server, bytes.as_slice()))
        .collect();
    let sip: Turns<'_> = &[
        (true, INVITE),
        (false, RINGING),
        (true, INVITE),
        (false, RINGING),
    ];
    for (expected, turns, least) in [("dns", &dns[..], 4), ("sip", sip, 2)] {
        for (what, junk) in junk_datagrams() {
            let mut all: Vec<(bool, &[u8])> = vec![(true, &junk)];
            all.extend(turns);
            let (_, records) = run(&datagrams(&all), "1x1");
            let (name, messages) = named(&records);
            assert_eq!(name, expected, "{what} before {expected}: {records}");
            assert!(messages >= least, "{what} before {expected}: {records}");
        }
    }
}

/// Media has no mark: two datagrams that agree name it behind one that looked like something.
#[test]
fn media_is_known_behind_a_junk_datagram() {
    let media: Vec<[u8; 20]> = (1..6u8)
        .map(|number| {
            let mut bytes = [0x5a; 20];
            bytes[..12].copy_from_slice(&[0x80, 0, 7, number, 0, 0, 1, number, 9, 9, 9, 5]);
            bytes
        })
        .collect();
    for (what, junk) in junk_datagrams() {
        let mut all: Vec<(bool, &[u8])> = vec![(true, &junk)];
        all.extend(media.iter().map(|one| (true, &one[..])));
        let (_, records) = run(&datagrams(&all), "1x1");
        let (name, _) = named(&records);
        assert_eq!(name, "rtp", "{what}: {records}");
    }
}

/// What the client sends first may be anything: the server's answer tells, for each protocol that
/// is read, and its messages are read from there on at least. In segments of any size.
#[test]
fn the_servers_answer_names_what_junk_hid() {
    let get: &[u8] = b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
    let bad: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    let (hello, hello_back) = (client_hello(), server_hello());
    let (asked, told) = (framed(&query(1)), framed(&answer(1)));
    let (logon, logon_back) = (fix("A", 1), fix("A", 1));
    let cases: Vec<(&str, &[u8], &[u8])> = vec![
        ("http", get, bad),
        ("tls", &hello, &hello_back),
        ("dns", &asked, &told),
        ("fix", &logon, &logon_back),
        (
            "smtp",
            b"EHLO a\r\n",
            b"220 mail.example ESMTP\r\n250 mail.example\r\n",
        ),
        (
            "redis",
            b"*1\r\n$4\r\nPING\r\n",
            b"-ERR unknown command 'x'\r\n+PONG\r\n",
        ),
        ("sip", INVITE, RINGING),
    ];
    let random: Vec<u8> = (0..40u8).map(|n| n.wrapping_mul(151) ^ 0xe7).collect();
    let junks: [(&str, &[u8]); 7] = [
        ("random", &random),
        ("zeros", &[0; 64]),
        ("one byte", b"\x01"),
        ("ssh", b"SSH-2.0-x\r\n"),
        (
            "git",
            b"0032git-upload-pack /project.git\0host=example.com\0",
        ),
        ("line end", b"\r\n"),
        (
            "rdp",
            b"\x03\0\0\x13\x0e\xe0\0\0\0\0\0\x01\0\x08\0\x03\0\0\0",
        ),
    ];
    let pairs: Vec<_> = cases
        .iter()
        .flat_map(|case| junks.iter().map(move |junk| (case, junk)))
        // What begins as RDP goes over to TLS.
        .filter(|(case, junk)| (case.0, junk.0) != ("tls", "rdp"))
        .zip(1u8..)
        .collect();
    for size in [1, 5, 1000] {
        let mut frames = Vec::new();
        for ((case, (_, junk)), host) in &pairs {
            let (_, client, server) = case;
            let first = [*junk, *client].concat();
            frames.extend(stream_of(*host, &[(true, &first), (false, *server)], size));
        }
        let (_, records) = run(&frames, "1x1");
        for (((expected, ..), (what, _)), host) in &pairs {
            let from = format!("\"src_ip\":\"10.0.0.{host}\"");
            let own: String = records
                .lines()
                .filter(|line| line.contains(&from))
                .flat_map(|line| [line, "\n"])
                .collect();
            assert_eq!(named(&own).0, *expected, "{what} by {size}: {own}");
        }
    }
}

const BAD: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
const GET: &[u8] = b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n";
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// The same records from two shapes; the connection's name, and how many records it has of that.
fn in_two_shapes(turns: Turns<'_>, size: usize) -> (String, usize, String) {
    let frames = stream(turns, size);
    let (_, records) = run(&frames, "1x1");
    assert_eq!(records, run(&frames, "2x2").1);
    let (name, messages) = named(&records);
    (name, messages, records)
}

/// What a first line, whole and right, fixes is not for good: the server speaks something else, and
/// what the client says of that is read, whether it comes with the junk or after it.
#[test]
fn the_servers_beginning_wins_over_a_whole_first_message() {
    let (hello, hello_back) = (client_hello(), server_hello());
    let (logon, beat) = (fix("A", 1), fix("0", 2));
    let junks: [(&str, &[u8]); 7] = [
        ("ehlo", b"EHLO x\r\n"),
        ("helo", b"HELO x\r\nMAIL FROM:<a@b>\r\n"),
        ("tls", &hello),
        ("sip", b"OPTIONS sip:z SIP/2.0\r\n\r\n"),
        ("redis", b"*1\r\n$4\r\nPING\r\n"),
        ("irc", b"NICK x\r\nUSER x 0 * :x\r\n"),
        ("fix", &logon),
    ];
    let refused: &[u8] = b"-ERR unknown command 'EHLO'\r\n";
    let get: &[u8] = b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";
    let tails: [(&str, usize, &str, Turns<'_>); 6] = [
        ("http", 1, "/x", &[(false, BAD), (true, GET), (false, OK)]),
        ("http", 1, "/x", &[(true, GET), (false, OK)]),
        (
            "fix",
            4,
            "",
            &[
                (true, &logon),
                (false, &logon),
                (true, &beat),
                (false, &beat),
            ],
        ),
        ("tls", 1, "ja4", &[(true, &hello), (false, &hello_back)]),
        (
            "redis",
            1,
            "\"GET\"",
            &[(false, refused), (true, get), (false, b"$1\r\nv\r\n")],
        ),
        (
            "ssh",
            0,
            "",
            &[(false, b"SSH-2.0-b\r\n"), (true, b"SSH-2.0-a\r\n")],
        ),
    ];
    let pairs = tails
        .iter()
        .flat_map(|tail| junks.iter().map(move |junk| (tail, junk)));
    let pairs: Vec<_> = pairs
        .filter(|(tail, junk)| tail.0 != junk.0)
        .zip(1u8..)
        .collect();
    for size in [7, 1000] {
        let mut frames = Vec::new();
        for (((.., tail), (_, junk)), host) in &pairs {
            let all: Vec<_> = [(true, *junk)].iter().chain(*tail).copied().collect();
            frames.extend(stream_of(*host, &all, size));
        }
        let (_, records) = run(&frames, "1x1");
        assert_eq!(records, run(&frames, "2x2").1);
        for (((expected, least, text, _), (what, _)), host) in &pairs {
            let from = format!("\"10.0.0.{host}\"");
            let own = records.lines().filter(|line| line.contains(&from));
            let own: String = own.flat_map(|line| [line, "\n"]).collect();
            let (name, messages) = named(&own);
            assert_eq!(name, *expected, "{what} by {size}: {own}");
            assert!(messages >= *least, "{what} by {size}: {own}");
            assert!(own.contains(text), "{what} by {size}: {own}");
        }
    }
}

/// What an FTP server says to a client that greets as one of mail.
#[test]
fn a_code_is_of_the_protocol_that_the_banner_names() {
    let turns: Turns<'_> = &[(true, b"EHLO x\r\n"), (false, b"220 ProFTPD Server\r\n")];
    for size in [1, 5, 1000] {
        assert_eq!(in_two_shapes(turns, size).0, "ftp");
    }
    let turns: Turns<'_> = &[
        (true, b"EHLO x\r\n"),
        (false, b"250-mail.example\r\n250 8\r\n"),
    ];
    for size in [1, 5, 1000] {
        assert_eq!(in_two_shapes(turns, size).0, "smtp");
    }
}

/// A client that begins TLS unasked, and a server that goes on in clear: so does the mail.
#[test]
fn a_hello_that_the_server_refuses_changes_nothing() {
    let (hello, hello_back) = (client_hello(), server_hello());
    let turns: Turns<'_> = &[
        (false, b"220 mx.example ESMTP\r\n"),
        (true, &hello),
        (false, b"500 unknown\r\n"),
        (true, b"EHLO c\r\n"),
        (false, b"250 mx.example\r\n"),
        (true, b"MAIL FROM:<a@b>\r\n"),
        (false, b"250 ok\r\n"),
        (true, b"RCPT TO:<c@d>\r\n"),
        (false, b"250 ok\r\n"),
        (true, b"DATA\r\n"),
        (false, b"354 go\r\n"),
        (true, b"Subject: s\r\n\r\nhi\r\n.\r\n"),
        (false, b"250 queued\r\n"),
    ];
    for size in [1, 7, 1000] {
        let (name, messages, records) = in_two_shapes(turns, size);
        assert_eq!((name.as_str(), messages), ("smtp", 1), "{size}: {records}");
        assert!(records.contains("a@b"), "{size}: {records}");
    }
    // One that it agrees to does.
    let turns: Turns<'_> = &[
        (false, b"220 mx.example ESMTP\r\n"),
        (true, b"STARTTLS\r\n"),
        (false, b"220 go\r\n"),
        (true, &hello),
        (false, &hello_back),
    ];
    for size in [1, 1000] {
        assert_eq!(in_two_shapes(turns, size).0, "tls");
    }
}

/// RFC 4253 §4.2: lines may come before the server's version, from whichever side it is heard
/// first.
#[test]
fn ssh_follows_other_lines_of_the_server() {
    let lines: [&[u8]; 5] = [
        b"220 mx ESMTP ready\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"* OK IMAP4 ready\r\n",
        b"+OK ready\r\n",
        b"Welcome\r\n",
    ];
    for line in lines {
        let version: &[u8] = b"SSH-2.0-OpenSSH_9\r\n";
        let client: &[u8] = b"SSH-2.0-PuTTY\r\n";
        let both = [line, version].concat();
        let talks: [&[(bool, &[u8])]; 3] = [
            &[(false, line), (false, version), (true, client)],
            &[(false, &both), (true, client)],
            &[(false, line), (true, client), (false, version)],
        ];
        for (talk, number) in talks.iter().zip(0..) {
            for size in [5, 1000] {
                let (name, _, records) = in_two_shapes(talk, size);
                assert_eq!(name, "ssh", "{number} by {size}: {records}");
            }
        }
    }
    // A client's word alone is not enough.
    let turns: Turns<'_> = &[
        (false, b"220 mx ESMTP ready\r\n"),
        (true, b"SSH-2.0-x\r\n"),
        (false, b"500 what?\r\n"),
    ];
    assert_eq!(in_two_shapes(turns, 1000).0, "smtp");
}

/// Servers of Redis pass over empty lines.
#[test]
fn an_empty_line_before_the_first_command_hides_nothing() {
    let turns: Turns<'_> = &[
        (true, b"\r\n"),
        (true, b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"),
        (false, b"$1\r\nv\r\n"),
    ];
    for size in [1, 1000] {
        let (name, messages, _) = in_two_shapes(turns, size);
        assert_eq!((name.as_str(), messages), ("redis", 1));
    }
}

/// The evader's prefix is told as what the connection was taken for, and the request behind it is
/// replayed to the parser that the server's answer chose.
#[test]
fn a_prefix_of_another_protocol_is_told_and_the_bytes_behind_it_are_read() {
    let first = b"SSH-2.0-x\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
    let back = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    for size in [1, 7, 1000] {
        let (report, records) = run(&stream(&[(true, first), (false, back)], size), "1x1");
        assert!(
            records.contains("\"app_proto\":\"http\",\"app_proto_orig\":\"ssh\""),
            "{records}"
        );
        assert!(records.contains("\"status\":400"), "{records}");
        assert!(records.contains("/hidden"), "{records}");
        assert_eq!(report.identify.taken_back, 1);
    }
}

/// Both sides fit: what comes later changes nothing.
#[test]
fn what_both_sides_speak_stays() {
    let turns: Turns<'_> = &[
        (true, b"SSH-2.0-a\r\n"),
        (false, b"SSH-2.0-b\r\n"),
        (true, b"GET / HTTP/1.1\r\n\r\n"),
        (false, b"HTTP/1.1 200 OK\r\n\r\n"),
    ];
    for size in [1, 1000] {
        let (report, records) = run(&stream(turns, size), "1x1");
        assert_eq!(named(&records).0, "ssh");
        assert_eq!(report.identify.taken_back, 0);
    }
}

/// Who changes with every datagram is followed so often, and counted: no more work than that.
#[test]
fn a_connection_does_not_change_its_name_without_end() {
    let (dns, quic) = (query(1), empty_initial());
    let kinds: [&[u8]; 4] = [STUN, &dns, &quic, INVITE];
    let turns: Vec<(bool, &[u8])> = (0..400).map(|n| (true, kinds[n % 4])).collect();
    let (report, records) = run(&datagrams(&turns), "1x1");
    assert!(report.identify.taken_back <= 4, "{records}");
    assert!(report.losses.of(Loss::IdentifyChanges) <= 1);
    assert!(
        report.identify.inspected <= 40,
        "{}",
        report.identify.inspected
    );
    let shapes = ["2x1", "2x2", "3x3"].map(|shape| run(&datagrams(&turns), shape).1);
    for other in shapes {
        assert_eq!(records.lines().count(), other.lines().count());
        assert_eq!(named(&records), named(&other));
    }
}

/// HTTP/0.9 (RFC 1945 §4.1, §6): a line without a version, bytes without a head, and the end.
#[test]
fn a_request_without_a_version_has_a_record() {
    let turns: Turns<'_> = &[(true, b"GET /old\r\n"), (false, b"<html>hello</html>\n")];
    for size in [1, 6, 1000] {
        let (_, records) = run(&stream(turns, size), "1x1");
        assert_eq!(named(&records), ("http".to_owned(), 1), "{records}");
        assert!(records.contains("\"url\":\"/old\""), "{records}");
    }
}

/// Real conversations keep their first verdict: of thousands of connections in public captures
/// hardly one is named anew. Prints those that are:
/// `cargo test -p flowpin-engine --test doubt real_ -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes"]
fn real_conversations_keep_their_verdicts() {
    let shared = std::env::var_os("FLOWPIN_SHARED").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        std::path::PathBuf::from,
    );
    let captures = shared.join("corpus/nDPI/tests/cfgs/default/pcap");
    let Ok(entries) = std::fs::read_dir(&captures) else {
        println!("skipped: {} is not there", captures.display());
        return;
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let (mut searched, mut taken_back) = (0, 0);
    for path in paths {
        let folder = tempfile::tempdir().unwrap();
        let mut plan = Plan {
            inputs: vec![Input::File(path.clone())],
            pipeline: "1x1".parse().unwrap(),
            ..Plan::default()
        };
        plan.output.formats = vec![Format::Eve];
        plan.output.dir = folder.path().to_owned();
        let Ok(report) = flowpin_engine::run(&plan, &Control::default(), &()) else {
            continue;
        };
        searched += report.identify.searched;
        taken_back += report.identify.taken_back;
        if report.identify.taken_back > 0 {
            let records = std::fs::read_to_string(folder.path().join("eve.json")).unwrap();
            let changed = records
                .lines()
                .filter(|line| line.contains("app_proto_orig") && line.contains("\"flow\""))
                .filter_map(|line| {
                    Some(line.split("\"app_proto\":").nth(1)?.get(..60)?.to_owned())
                });
            let changed: Vec<String> = changed.collect();
            let name = path.file_name().unwrap().to_string_lossy();
            println!("{name}: {} {changed:?}", report.identify.taken_back);
        }
    }
    println!("{taken_back} of {searched}");
    assert!(taken_back * 200 < searched, "{taken_back} of {searched}");
}
