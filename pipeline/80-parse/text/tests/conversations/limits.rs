//! Caps, their counters, and requests for which there is no room.

use crate::support::{Log, Turns, trial, trial_within};
use flowpin_packet::Timestamp;
use flowpin_parser::Parser;
use flowpin_text::{Text, TextOptions, built_in};

/// Questions and the lengths of texts are limited, and the memory of a shard is; losses are counted
/// for each.
#[test]
fn losses_are_counted() {
    let options = TextOptions {
        questions_max: 2,
        text_len_max: 8,
        ..TextOptions::default()
    };
    for (shard_bytes, values) in [(1 << 20, " command=GET key=averylon"), (SCARCE, "")] {
        let mut text = trial_within(shard_bytes, options, built_in());
        let mut log = Log::default();
        let redis = text.parser.protocol("redis").unwrap();
        let handle = text.begin(redis).unwrap();
        let get = b"GET averylongkeyindeed\r\n";
        for _ in 0..5 {
            text.data(handle, Timestamp(1), true, get, &mut log);
        }
        text.end(handle, Timestamp(4), &mut log);
        let record = format!("redis @1{values}");
        assert_eq!(log.0, vec![record; 5]);
        let losses = text.finish(&mut log).losses();
        let losses: Vec<_> = losses.iter().map(|(loss, _)| loss.name()).collect();
        assert_eq!(losses, ["text_memory", "text_questions"]);
    }
}

/// Bytes for a connection and no field of it.
const SCARCE: u64 = Text::CONNECTION_BYTES as u64 + 68;

/// No input takes more memory than its length justifies (checked for each call): tiny questions,
/// fields that are kept in each of them, texts and tokens of any length.
#[test]
fn memory_is_in_proportion_to_the_bytes() {
    let line = |len: usize| "x".repeat(len);
    let rcpt = format!("RCPT TO:<{}>\r\n", line(2000));
    let mail = format!("HELO {}\r\nMAIL FROM:<a>\r\n", line(5000));
    let head = format!("X-{}: {}\r\nTo: {}\r\n", line(90), line(900), line(4000));
    let sip = format!("INVITE sip:a SIP/2.0\r\nCall-ID: {}\r\n\r\n", line(9));
    let inputs = [
        ("redis", "a\r\n".repeat(400)),
        (
            "redis",
            format!("*9\r\n$1\r\na\r\n$9000\r\n{}\r\n", line(9000)).repeat(9),
        ),
        ("smtp", mail.clone() + &"QUIT\r\n".repeat(300)),
        (
            "smtp",
            format!("HELO {}\r\n", line(3000)) + &"MAIL FROM:<>\r\n".repeat(300),
        ),
        (
            "smtp",
            mail.clone() + &rcpt.repeat(50) + "DATA\r\n" + &head.repeat(50) + ".\r\n",
        ),
        (
            "smtp",
            mail + "BDAT 9000\r\n" + &line(9000) + "BDAT 2\r\nxyBDAT 1 LAST\r\nx",
        ),
        ("sip", sip.repeat(400)),
        ("sip", line(70_000)),
    ];
    for (protocol, input) in inputs {
        for piece in [usize::MAX, 1460, 3] {
            let mut text = trial(TextOptions::default(), built_in());
            let protocol = text.parser.protocol(protocol).unwrap();
            let handle = text.begin(protocol).unwrap();
            let mut log = Log::default();
            for to_server in [true, false, true] {
                for part in input.as_bytes().chunks(piece) {
                    text.data(handle, Timestamp(1), to_server, part, &mut log);
                }
            }
            text.finish(&mut log);
        }
    }
}

/// Requests are answered in order: a request that finds no room is emitted without its answer, and
/// its answer is not paired with another request.
#[test]
fn questions_left_out_keep_their_place() {
    let options = TextOptions {
        questions_max: 2,
        ..TextOptions::default()
    };
    let mut text = trial(options, built_in());
    let mut log = Log::default();
    let redis = text.parser.protocol("redis").unwrap();
    let handle = text.begin(redis).unwrap();
    let turns: Turns<'_> = &[
        (true, b"GET a\r\nGET b\r\nGET c\r\n"),
        (false, b"+a\r\n"),
        (true, b"GET d\r\n"),
        (false, b"+b\r\n+c\r\n+d\r\n"),
        (true, b"GET e\r\n"),
        (false, b"+e\r\n"),
    ];
    for (turn, (to_server, bytes)) in turns.iter().enumerate() {
        let at = Timestamp(turn as u64);
        text.data(handle, at, *to_server, bytes, &mut log);
    }
    text.end(handle, Timestamp(99), &mut log);
    assert_eq!(
        log.0,
        [
            "redis @0 command=GET key=c",
            "redis @0 command=GET key=a reply=a",
            "redis @2 command=GET key=d",
            "redis @0 command=GET key=b reply=b",
            "redis @3 reply=c",
            "redis @3 reply=d",
            "redis @4 command=GET key=e reply=e",
        ]
    );
}
