//! Identification inside a run: turns, gaps, changes to TLS, little memory.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

use flowpin_config::{Format, IdentifyPlan, Input, Plan};
use flowpin_engine::{Control, Progress, ProgressSink, RunReport};
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;
use std::sync::Mutex;

/// A TCP connection with its handshake; each turn is cut into segments of `size` bytes.
fn talk(turns: &[(bool, &[u8])], size: usize) -> Vec<Vec<u8>> {
    let ip = Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]);
    let (client, server) = (50_000, 50_001);
    let mut next = [1001u32, 5001];
    let ack = flags::ACK;
    let mut frames = vec![
        ip.tcp(Tcp::new(client, server, 1000, 0, flags::SYN), b""),
        ip.reversed()
            .tcp(Tcp::new(server, client, 5000, 1001, flags::SYN | ack), b""),
        ip.tcp(Tcp::new(client, server, 1001, 5001, ack), b""),
    ];
    for &(to_server, turn) in turns {
        for part in turn.chunks(size) {
            let packet = if to_server {
                ip.tcp(Tcp::new(client, server, next[0], next[1], ack), part)
            } else {
                let back = Tcp::new(server, client, next[1], next[0], ack);
                ip.reversed().tcp(back, part)
            };
            next[usize::from(!to_server)] += u32::try_from(part.len()).unwrap();
            frames.push(packet);
        }
    }
    frames.iter().map(|packet| packet.ethernet()).collect()
}

/// A run with several threads pins this one; the next run finds all processors again.
#[test]
fn a_run_leaves_the_thread_its_processors() {
    let before = flowpin_cpu::allowed_cpus();
    let frames = talk(&[(true, b"GET / HTTP/1.0\r\n\r\n")], 1000);
    run(&frames, "2x1");
    assert_eq!(flowpin_cpu::allowed_cpus(), before);
}

/// A run over these frames: its report and the EVE records.
fn run(frames: &[Vec<u8>], pipeline: &str) -> (RunReport, String) {
    run_with(frames, pipeline, IdentifyPlan::default())
}

fn run_with(frames: &[Vec<u8>], pipeline: &str, identify: IdentifyPlan) -> (RunReport, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.pcap");
    let timed = frames.iter().zip(1u64..);
    let bytes = ethernet_file(timed.map(|(frame, n)| (n * 1000, frame.as_slice()))).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let mut plan = Plan {
        inputs: vec![Input::File(path)],
        pipeline: pipeline.parse().unwrap(),
        identify,
        ..Plan::default()
    };
    plan.output.formats = vec![Format::Eve];
    plan.output.dir = folder.path().to_owned();
    let report = flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    let records = std::fs::read_to_string(folder.path().join("eve.json")).unwrap();
    (report, records)
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

/// A stream of no known protocol is not looked at for ever, also if only one side speaks: 8 KiB.
#[test]
fn one_side_that_goes_on_and_on_is_left_alone() {
    let ip = Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]);
    let said = vec![0x51; 200_000];
    let mut counts = Vec::new();
    for size in [1000, 1400] {
        let mut frames = talk(&[], size);
        let mut next = 1001;
        for part in said.chunks(size) {
            let packet = ip.tcp(Tcp::new(50_000, 50_001, next, 5001, flags::ACK), part);
            next += u32::try_from(part.len()).unwrap();
            // Only what is acknowledged makes room for more.
            let heard = Tcp::new(50_001, 50_000, 5001, next, flags::ACK);
            frames.push(packet.ethernet());
            frames.push(ip.reversed().tcp(heard, b"").ethernet());
        }
        let (report, _) = run(&frames, "1x1");
        assert_eq!(report.found.connections.unknown.connections, 1);
        counts.push(report.identify.inspected);
    }
    assert_eq!(counts, [(8 << 10) / 1000 + 1, (8 << 10) / 1400 + 1]);
}

/// RFC 3207: after STARTTLS the same connection is TLS. The record has both, however the turns
/// are cut, and a mail that merely talks of it has not.
#[test]
fn mail_that_goes_over_to_tls_is_both() {
    let hello = client_hello();
    let mut turns: Vec<(bool, &[u8])> = vec![
        (false, b"220 mail.example.org ESMTP ready\r\n"),
        (true, b"EHLO client.example.org\r\n"),
        (false, b"250-mail.example.org\r\n250 STARTTLS\r\n"),
        (true, b"STARTTLS\r\n"),
        (false, b"220 go ahead\r\n"),
        (true, &hello),
    ];
    for size in [1, 7, 1000] {
        let (report, records) = run(&talk(&turns, size), "1x1");
        let expected = "\"app_proto\":\"tls\",\"app_proto_orig\":\"smtp\"";
        assert!(records.contains(expected), "{size}: {records}");
        assert_eq!(report.found.connections.by_app["tls"].connections, 1);
    }
    turns.truncate(5);
    let (_, records) = run(&talk(&turns, 1000), "1x1");
    assert!(records.contains("\"app_proto\":\"smtp\""), "{records}");
    assert!(!records.contains("app_proto_orig"), "{records}");
}

/// RFC 7983: media may come at once, between STUN that goes on.
#[test]
fn a_call_whose_media_comes_at_once_is_both() {
    let ip = Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]);
    let mut binding = vec![0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42];
    binding.extend([7; 12]);
    let call = |step: u8| {
        let mut frames = Vec::new();
        for count in 0..5 {
            let number = count * step;
            let media = [0x80, 0x78, 0, number, 0, 0, 3, number, 9, 9, 9, 9, 5, 5];
            frames.push(ip.udp(50_000, 50_001, &binding).ethernet());
            frames.push(ip.udp(50_000, 50_001, &media).ethernet());
        }
        frames
    };
    let (_, records) = run(&call(1), "1x1");
    let both = "\"app_proto\":\"rtp\",\"app_proto_orig\":\"stun\"";
    assert!(records.contains(both), "{records}");
    let (_, records) = run(&call(0), "1x1");
    assert!(records.contains("\"app_proto\":\"stun\""), "{records}");
}

/// RFC 5764: peers find a way to each other with STUN, then DTLS makes keys on the same ports.
#[test]
fn a_call_that_sets_up_keys_is_both() {
    let ip = Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]);
    let mut binding = vec![0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42];
    binding.extend([7; 12]);
    let media = [0x80, 0x60, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    let mut hello = vec![22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 67];
    hello.extend([1, 0, 0, 55, 0, 0, 0, 0, 0, 0, 0, 55, 0xfe, 0xfd]);
    hello.extend([9; 32]);
    hello.extend([
        0, 0, 0, 2, 0xc0, 0x2b, 1, 0, 0, 11, 0, 11, 0, 2, 1, 0, 0, 10, 0, 1, 0,
    ]);
    let call = |media_count: usize, said: &[u8]| {
        let mut frames = vec![ip.udp(50_000, 50_001, &binding).ethernet()];
        let media = (0..media_count).map(|_| ip.udp(50_000, 50_001, &media).ethernet());
        frames.extend(media);
        frames.push(ip.reversed().udp(50_001, 50_000, said).ethernet());
        frames
    };
    let both = "\"app_proto\":\"dtls\",\"app_proto_orig\":\"stun\"";
    let (_, records) = run(&call(20, &hello), "1x1");
    assert!(records.contains(both), "{records}");
    // The hello came from the side that was called: that is the client of DTLS.
    assert!(records.contains("\"event_type\":\"tls\""), "{records}");
    assert!(records.contains("\"ja4\":\"d"), "{records}");
    for (count, said) in [(20, &binding), (300, &hello)] {
        let (_, records) = run(&call(count, said), "1x1");
        assert!(records.contains("\"app_proto\":\"stun\""), "{records}");
        assert!(!records.contains("app_proto_orig"), "{records}");
    }
}

/// A gap ends what can be told of a direction; the other one goes on.
#[test]
fn one_direction_is_enough() {
    let turns: &[(bool, &[u8])] = &[
        (true, b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"),
        (false, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    ];
    let whole = talk(turns, 1000);
    for missing in [3, 4] {
        let mut frames = whole.clone();
        frames.remove(missing);
        let (_, records) = run(&frames, "1x1");
        assert!(records.contains("\"app_proto\":\"http\""), "{records}");
    }
}

/// What was looked at is counted once a connection and once a packet, on any number of workers.
#[test]
fn what_was_looked_at_is_counted() {
    let mut frames = talk(&[(true, b"SSH-2.0-x\r\n"), (false, b"SSH-2.0-y\r\n")], 1000);
    let ip = Ip::v4([10, 0, 0, 3], [10, 0, 0, 4]);
    for nth in 0..20u8 {
        frames.push(ip.udp(50_002, 50_003, &[nth ^ 0x5a; 9]).ethernet());
    }
    for pipeline in ["1x1", "2x3"] {
        let (report, _) = run(&frames, pipeline);
        // The SSH client's first line decides, the server's confirms; twelve datagrams are the
        // limit.
        assert_eq!(report.identify.searched, 2);
        assert_eq!(report.identify.inspected, 2 + 12);
        assert_eq!(report.found.connections.unknown.connections, 1);
        assert_eq!(report.found.connections.by_app["ssh"].connections, 1);
    }
}

/// The user's patterns are asked where no built-in rule decides, and named as their files name
/// them; also from the cache, which follows what the files say.
#[test]
fn patterns_of_the_user_name_what_no_rule_knows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("greeting.pat");
    let mut frames = talk(&[(true, b"come in please\n"), (false, b"thanks\n")], 1000);
    let ip = Ip::v4([10, 0, 0, 3], [10, 0, 0, 4]);
    frames.push(ip.udp(50_002, 50_003, b"come in please").ethernet());
    let plan = IdentifyPlan {
        patterns: vec![folder.path().to_owned()],
        cache: Some(folder.path().join("cache")),
        ..IdentifyPlan::default()
    };
    for name in ["greeting", "farewell"] {
        std::fs::write(&file, format!("{name}\n^come in please\n")).unwrap();
        for pipeline in ["1x1", "2x3", "1x1"] {
            let (report, records) = run_with(&frames, pipeline, plan.clone());
            assert_eq!(report.found.connections.by_app[name].connections, 2);
            let proto = format!("\"app_proto\":\"{name}\"");
            assert_eq!(records.matches(&proto).count(), 2, "{records}");
            assert!(records.contains("greeting.pat"), "{records}");
        }
    }
}

/// A pattern that cannot be honoured is named, and the others are used.
#[test]
fn a_refused_pattern_is_named() {
    struct Notes(Mutex<Vec<String>>);
    impl ProgressSink for Notes {
        fn update(&self, _: &Progress) {}
        fn note(&self, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.pcap");
    std::fs::write(&path, ethernet_file([]).unwrap()).unwrap();
    for (name, text) in [
        ("good", "good\n^hello"),
        ("bad", "bad\n(\n"),
        ("wide", "wide\n^.*a.............................b\n"),
    ] {
        std::fs::write(folder.path().join(format!("{name}.pat")), text).unwrap();
    }
    let mut plan = Plan {
        inputs: vec![Input::File(path)],
        ..Plan::default()
    };
    plan.output.formats = vec![Format::None];
    plan.identify.patterns = vec![folder.path().to_owned()];
    let notes = Notes(Mutex::default());
    flowpin_engine::run(&plan, &Control::default(), &notes).unwrap();
    let notes = notes.0.into_inner().unwrap();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("bad.pat:2: a group without its end"));
    assert!(notes[1].contains("wide.pat:2: needs more than"));
    assert!(flowpin_engine::check(&plan).is_err());
    plan.identify.patterns = vec![folder.path().join("none")];
    let error = flowpin_engine::run(&plan, &Control::default(), &()).unwrap_err();
    assert!(error.to_string().contains("none"), "{error}");
}
