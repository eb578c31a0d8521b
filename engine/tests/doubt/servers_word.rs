//! The server's word counts most: whole first messages that it knows nothing of, lines before
//! its own, changes that it refuses.

use crate::support::{
    BAD, GET, OK, Turns, client_hello, fix, in_two_shapes, named, run, server_hello, stream_of,
};

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

/// A request within a message that never ends, or behind whole ones: what the parser of the
/// junk held is read by the one that takes its place. In segments of any size.
#[test]
fn what_a_refused_parser_held_is_read_by_the_next() {
    let get: &[u8] = b"GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
    let begun: &[u8] = b"8=FIX.4.4\x019=4000\x0135=D\x0158=";
    let ended: &[u8] = b"8=FIX.4.4\x019=20\x0135=D\x0158=";
    let whole = fix("A", 1);
    let fronts: [Vec<u8>; 4] = [
        begun.to_vec(),
        ended.to_vec(),
        [&whole, begun].concat(),
        [&whole[..], &whole, b"\r\n"].concat(),
    ];
    for (front, number) in fronts.iter().zip(0..) {
        let all = [front, get].concat();
        for size in [1000, 45, 30, 1] {
            let (name, messages, records) = in_two_shapes(&[(true, &all), (false, OK)], size);
            let what = format!("{number} by {size}: {records}");
            assert_eq!((name.as_str(), messages), ("http", 1), "{what}");
            assert!(records.contains("/hidden"), "{what}");
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
    // The client's version first, then lines of the server's, then the server's.
    for line in [lines[0], lines[2], lines[3], lines[4]] {
        let turns: Turns<'_> = &[
            (true, b"SSH-2.0-PuTTY\r\n"),
            (false, line),
            (false, b"SSH-2.0-OpenSSH_9\r\n"),
        ];
        let (name, _, records) = in_two_shapes(turns, 1000);
        assert_eq!(name, "ssh", "{records}");
    }
    // A client's word alone is not enough.
    let turns: Turns<'_> = &[
        (false, b"220 mx ESMTP ready\r\n"),
        (true, b"SSH-2.0-x\r\n"),
        (false, b"500 what?\r\n"),
    ];
    assert_eq!(in_two_shapes(turns, 1000).0, "smtp");
}
