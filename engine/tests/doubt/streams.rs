//! Streams: what is heard first, and what the server answers.

use crate::support::{
    INVITE, RINGING, Turns, answer, client_hello, fix, framed, in_two_shapes, named, query, run,
    run_file, server_hello, stream, stream_of,
};
use flowpin_testkit::corpus;

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
/// hardly one is named anew. `-- --nocapture` prints those that are.
#[test]
fn real_conversations_keep_their_verdicts() {
    let Some(shared) = corpus::shared_dir("verdicts of real conversations") else {
        return;
    };
    let captures = shared.join("corpus/nDPI/tests/cfgs/default/pcap");
    let entries = std::fs::read_dir(captures).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let step = if corpus::is_long() { 1 } else { 4 };
    let (mut searched, mut taken_back) = (0, 0);
    for path in paths.iter().step_by(step) {
        let Ok((report, records)) = run_file(path, "1x1") else {
            continue;
        };
        searched += report.identify.searched;
        taken_back += report.identify.taken_back;
        let flows = records.lines().filter(|line| line.contains("\"flow\""));
        for line in flows.filter(|line| line.contains("app_proto_orig")) {
            println!("{}: {line}", path.display());
        }
    }
    println!("{taken_back} of {searched}");
    assert!(
        searched > 300 && taken_back * 200 < searched,
        "{taken_back} of {searched}"
    );
}
