//! What a parser hears: all that came before its verdict, and what follows a gap.

use crate::talk::{EXCHANGE, Turns, events, run, talk, told};
use flowpin_config::Format;
use flowpin_counters::Loss;
use flowpin_testkit::build::Ip;

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
