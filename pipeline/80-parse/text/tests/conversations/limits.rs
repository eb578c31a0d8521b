//! Caps, their counters, and requests for which there is no room.

use crate::support::{Log, Turns};
use flowpin_packet::{Shard, Timestamp};
use flowpin_text::{Text, TextOptions, built_in};

/// Connections, questions and texts are capped; losses are counted for each.
#[test]
fn caps_are_counted() {
    let options = TextOptions {
        shard_connections_max: 1,
        questions_max: 2,
        text_len_max: 8,
        shard_bytes_max: 64,
        ..TextOptions::default()
    };
    let mut text = Text::new(options, built_in());
    let mut log = Log::default();
    let redis = text.protocol("redis").unwrap();
    let handle = text.begin(Shard(0), redis).unwrap();
    assert_eq!(text.begin(Shard(0), redis), None);
    for _ in 0..5 {
        text.data(
            handle,
            Timestamp(1),
            true,
            b"GET averylongkeyindeed\r\n",
            &mut log,
        );
    }
    text.end(handle, Timestamp(4), &mut log);
    assert_eq!(log.0.len(), 5);
    assert_eq!(log.0[0], "redis @1 command=GET key=averylon");
    let losses: Vec<_> = text.losses().iter().map(|(loss, _)| loss.name()).collect();
    assert_eq!(
        losses,
        ["text_connections", "text_memory", "text_questions"]
    );
    assert!(text.begin(Shard(0), redis).is_some());
}

/// Requests are answered in order: a request that finds no room is emitted without its answer, and
/// its answer is not paired with another request.
#[test]
fn questions_left_out_keep_their_place() {
    let options = TextOptions {
        questions_max: 2,
        ..TextOptions::default()
    };
    let mut text = Text::new(options, built_in());
    let mut log = Log::default();
    let redis = text.protocol("redis").unwrap();
    let handle = text.begin(Shard(0), redis).unwrap();
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
