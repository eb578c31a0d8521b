//! Conversations in the built-in grammars, whole and cut anywhere.

#![expect(clippy::unwrap_used, reason = "a test")]

mod talk;

use flowpin_packet::{Shard, Timestamp};
use flowpin_text::{Text, TextOptions, built_in};
use proptest::prelude::*;
use talk::{Log, Turns, check, told, whole};

const MAIL: Turns<'_> = &[
    (false, b"220 mx.example ESMTP\r\n"),
    (true, b"EHLO client.example\r\n"),
    (false, b"250-mx.example\r\n250 SIZE 1000\r\n"),
    (
        true,
        b"MAIL FROM:<ann@a.example> SIZE=20\r\nRCPT TO:<bob@b.example>\r\nrcpt to: <eve@b.\
      example>\r\nDATA\r\n",
    ),
    (false, b"250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n"),
    (
        true,
        b"From: Ann <ann@a.example>\r\nSubject: hi\r\nX-Long: a\r\n b\r\n\r\nSubject: not \
      this\r\n..\r\n.\r\n",
    ),
    (false, b"250-2.0.0\r\n250 queued as 17\r\n"),
    (true, b"MAIL FROM:<x@y>\r\nRCPT TO:<z@y>\r\nDATA\r\n"),
    (false, b"250 ok\r\n550 no\r\n503 no\r\n"),
    (true, b"QUIT\r\n"),
];

/// RFC 5321 §4.1.1.4: the reply behind 354 and the mail is the answer to the mail; what follows a
/// refused DATA is a command again.
#[test]
fn a_mail_is_told_with_its_answer() {
    check(
        "smtp",
        MAIL,
        &[
            "smtp @1 helo=client.example mailfrom=ann@a.example \
             rcptto=bob@b.example|eve@b.example from=Ann <ann@a.example> subject=hi \
             last_reply=250 queued as 17",
            "smtp @7 helo=client.example mailfrom=x@y rcptto=z@y last_reply=503 no",
        ],
    );
}

/// A mail that comes to nothing is told as far as it came: nobody may have it, or the client
/// changes its mind or goes.
#[test]
fn mails_that_come_to_nothing_are_told() {
    check(
        "smtp",
        &[
            (
                true,
                b"HELO h\r\nNOOP\r\nRSET\r\nMAIL FROM:<a@a>\r\nRCPT TO:<no@b>\r\nRSET\r\n",
            ),
            (
                true,
                b"RSET\r\nMAIL FROM:<>\r\nRCPT TO:<no@c>\r\nMAIL FROM:<d@d>\r\n",
            ),
            (
                true,
                b"RCPT TO:<e@e>\r\nDATA\r\nSubject: cut\r\n\r\nthe bod",
            ),
        ],
        &[
            // Its last line is not whole.
            "! smtp_line_broken",
            "smtp @0 helo=h mailfrom=a@a rcptto=no@b",
            "smtp @1 helo=h rcptto=no@c",
            "smtp @1 helo=h mailfrom=d@d rcptto=e@e subject=cut",
        ],
    );
}

/// RFC 3207: behind STARTTLS nothing can be read, and nothing is.
#[test]
fn nothing_is_read_behind_starttls() {
    check(
        "smtp",
        &[
            (true, b"EHLO x\r\nSTARTTLS\r\n"),
            (false, b"220 mx.example\r\n250-mx\r\n250 STARTTLS\r\n"),
            (false, b"220 go ahead\r\n\x16\x03\x01\x02\x00\x01"),
            (true, b"\x16\x03\x01\x02\x00\x01\n\xff\xff"),
        ],
        &[],
    );
}

/// Requests are answered in order; values are skipped by their length, whatever is in them.
#[test]
fn redis_pairs_commands_with_replies() {
    check(
        "redis",
        &[
            (
                true,
                b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$6\r\na\r\n$b*\r\n*2\r\n$3\r\nGET\r\n$3\
              \r\nkey\r\nPING\r\n",
            ),
            (false, b"+OK\r\n$6\r\na\r\n$b*\r\n+PONG\r\n"),
            (
                true,
                b"*1\r\n$4\r\nKEYS\r\n*2\r\n$4\r\nLLEN\r\n$1\r\n\r\r\n*2\r\n$1\r\nX\r\n$0\
              \r\n\r\n",
            ),
            (
                false,
                b"*3\r\n$1\r\na\r\n*2\r\n:1\r\n$-1\r\n+x\r\n>2\r\n+message\r\n$1\r\n-\r\n\
              :4\r\n-ERR no\r\n",
            ),
        ],
        &[
            "redis @0 command=SET key=key arguments=3 reply=OK",
            "redis @0 command=GET key=key arguments=2 reply=a\\r\\n$b*",
            "redis @0 command=PING reply=PONG",
            "redis @2 command=KEYS arguments=1 reply=3",
            "redis @2 command=LLEN key=\\r arguments=2 reply=4",
            "redis @2 command=X key= arguments=2 error=ERR no",
        ],
    );
}

/// Long lists, and attributes within lists, are one reply; a replica's stream is none.
#[test]
fn redis_replies_are_as_long_as_they_say() {
    let mut list = b"*1048577\r\n".to_vec();
    list.extend(b":1\r\n".repeat(1_048_577));
    list.extend(b"+PONG\r\n");
    let turns: Turns<'_> = &[(true, b"KEYS *\r\n\nPING\r\n"), (false, &list)];
    let expected = [
        "redis @0 command=KEYS key=* reply=1048577",
        "redis @0 command=PING reply=PONG",
    ];
    assert_eq!(told("redis", turns, whole), expected);
    check(
        "redis",
        &[
            (true, b"X4\r\nPING\r\nPSYNC ? -1\r\n"),
            (
                false,
                b"*2\r\n|1\r\n+k\r\n*1\r\n+v\r\n:1\r\n:2\r\n+PONG\r\n\
              +FULLRESYNC 8371b4fb 0\r\n$12\r\nREDIS0009abc*1\r\n$4\r\nPING\r\n",
            ),
        ],
        &[
            "redis @0 command=X4 reply=2",
            "redis @0 command=PING reply=PONG",
            "redis @0 command=PSYNC key=? reply=FULLRESYNC 8371b4fb 0",
        ],
    );
}

/// RFC 3261: a provisional answer is no answer, ACK has none, and bodies are passed over.
#[test]
fn sip_pairs_requests_with_final_answers() {
    check(
        "sip",
        &[
            (
                true,
                b"INVITE sip:bob@b SIP/2.0\r\nf: Ann <sip:ann@a>\r\nTo: <sip:bob@b>\r\ni: \
              77@a\r\nCSeq: 1 INVITE\r\nContent-Length : 6\r\n\r\nv=0\r\n\xff\r\n",
            ),
            (
                false,
                b"SIP/2.0 180 Ringing\r\nl: 2\r\n\r\nxxSIP/2.0 404 Not Found\r\nServer: s\
              /1\r\nl: 0\r\n\r\n",
            ),
            (true, b"ACK sip:bob@b SIP/2.0\r\nCall-ID: 77@a\r\n\r\n"),
        ],
        &[
            "sip @0 method=INVITE uri=sip:bob@b version=SIP/2.0 request_from=Ann <sip:ann@a> \
             request_to=<sip:bob@b> call_id=77@a seq=1 INVITE request_body_len=6 \
             status_code=404 status_msg=Not Found server=s/1 response_body_len=0",
            "sip @2 method=ACK uri=sip:bob@b version=SIP/2.0 call_id=77@a",
        ],
    );
}

/// A request or an answer with the fields that name it.
fn sip(line: &str, call: &str, seq: &str) -> Vec<u8> {
    format!("{line}\r\nCall-ID: {call}\r\nCSeq: {seq}\r\n\r\n").into_bytes()
}

/// RFC 3261 §9.2 and §17.1.3: to a call that is taken back the answer to CANCEL comes first; calls
/// know nothing of each other; an answer may come twice.
#[test]
fn answers_of_sip_find_the_requests_that_they_name() {
    let turns = [
        (true, sip("INVITE sip:b SIP/2.0", "1", "1 INVITE")),
        (true, sip("CANCEL sip:b SIP/2.0", "1", "1 CANCEL")),
        (true, sip("BYE sip:c SIP/2.0", "2", "7 BYE")),
        (false, sip("SIP/2.0 481 Gone", "2", "7 BYE")),
        (false, sip("SIP/2.0 200 OK", "1", "1 CANCEL")),
        (false, sip("SIP/2.0 487 Terminated", "1", "1 INVITE")),
        (false, sip("SIP/2.0 487 Terminated", "1", "1 INVITE")),
        (true, sip("OPTIONS sip:b SIP/2.0", "3", "1 OPTIONS")),
    ];
    let turns: Vec<(bool, &[u8])> = turns
        .iter()
        .map(|(to, sent)| (*to, sent.as_slice()))
        .collect();
    let expected = [
        "sip @2 method=BYE uri=sip:c version=SIP/2.0 call_id=2 seq=7 BYE status_code=481 \
         status_msg=Gone",
        "sip @1 method=CANCEL uri=sip:b version=SIP/2.0 call_id=1 seq=1 CANCEL status_code=200 \
         status_msg=OK",
        "sip @0 method=INVITE uri=sip:b version=SIP/2.0 call_id=1 seq=1 INVITE status_code=487 \
         status_msg=Terminated",
        "sip @6 version=SIP/2.0 call_id=1 seq=1 INVITE status_code=487 status_msg=Terminated",
        "sip @7 method=OPTIONS uri=sip:b version=SIP/2.0 call_id=3 seq=1 OPTIONS",
    ];
    check("sip", &turns, &expected);
}

/// Requests that are never answered do not keep later ones from their answers.
#[test]
fn the_oldest_request_gives_way_where_answers_name_theirs() {
    let asks: Vec<Vec<u8>> = (0..300)
        .map(|nth| sip("OPTIONS sip:b SIP/2.0", "1", &format!("{nth} OPTIONS")))
        .collect();
    let answer = sip("SIP/2.0 200 OK", "1", "299 OPTIONS");
    let mut turns: Vec<(bool, &[u8])> = asks.iter().map(|ask| (true, ask.as_slice())).collect();
    turns.push((false, &answer));
    let told = told("sip", &turns, whole);
    assert_eq!(told.len(), 300);
    assert!(told[0].starts_with("sip @0 ") && told[43].starts_with("sip @43 "));
    assert!(
        told[44].contains("seq=299 OPTIONS status_code=200"),
        "{}",
        told[44]
    );
}

/// RFC 5322 §2.2.3, RFC 3261 §7.3.1: a line that begins with a blank goes on with the one before.
#[test]
fn folded_fields_are_told_whole() {
    check(
        "smtp",
        &[
            (true, b"MAIL FROM:<a@a>\r\nDATA\r\n"),
            (false, b"250 ok\r\n354 go\r\n"),
            (
                true,
                b"Message-ID:\r\n <1@a>\r\nTo: b@b,\r\n\tc@c\r\n \r\n\
              X: y\r\n z\r\nSubject: one\r\n \
              two\r\n  three\r\n\r\n folded no more\r\n.\r\n",
            ),
            (false, b"250 queued\r\n"),
        ],
        &[
            "smtp @0 mailfrom=a@a to=b@b, c@c msg_id=<1@a> subject=one two three \
             last_reply=250 queued",
        ],
    );
    check(
        "sip",
        &[(
            true,
            b"ACK sip:a SIP/2.0\r\nSubject: folded\r\n\tover lines\r\nCSeq: 1\r\n ACK\r\n\r\n",
        )],
        &["sip @0 method=ACK uri=sip:a version=SIP/2.0 seq=1 ACK subject=folded over lines"],
    );
}

/// RFC 3030: a mail in chunks, whatever is in them.
/// RFC 5321 §4.1.2: the local part may be in quotes, with blanks in it.
#[test]
fn a_mail_in_chunks_is_told() {
    check(
        "smtp",
        &[
            (
                true,
                b"MAIL FROM:<\"a b\"@a> BODY=BINARYMIME\r\nRCPT TO: <b@b> NOTIFY=NEVER\r\n\
              rcpt to:c@c\r\n",
            ),
            (false, b"250 ok\r\n250 ok\r\n250 ok\r\n"),
            (true, b"BDAT 12\r\nSubject: x\r\n"),
            (false, b"250 12 bytes\r\n"),
            (
                true,
                b"BDAT 8 LAST\r\n\r\nQUIT\r\nMAIL FROM:<d@d>\r\nBDAT 0 LAST\r\n",
            ),
            (false, b"250 queued\r\n250 ok\r\n554 no\r\n"),
        ],
        &[
            r#"smtp @0 mailfrom=\"a b\"@a rcptto=b@b|c@c subject=x last_reply=250 queued"#,
            "smtp @4 mailfrom=d@d last_reply=554 no",
        ],
    );
}

/// Passwords are in no record. Those that subscribe are answered by pushes, which answer nobody
/// else.
#[test]
fn passwords_are_not_told_and_subscriptions_do_not_wait() {
    check(
        "redis",
        &[
            (
                true,
                b"*3\r\n$4\r\nAuth\r\n$4\r\nname\r\n$6\r\n\
              secret\r\nAUTH secret\r\n \"auth\" secret\n*2\r\n$4\r\nAUTO\r\n$1\
              \r\nk\r\n",
            ),
            (false, b"+OK\r\n-ERR no\r\n+OK\r\n:1\r\n"),
            (
                true,
                b"*3\r\n$9\r\nSUBSCRIBE\r\n$2\r\nch\r\n$1\r\nd\r\n\
              Unsubscribe\r\nGET a\r\n",
            ),
            (
                false,
                b">3\r\n$9\r\nsubscribe\r\n$2\r\nch\r\n:1\r\n\
              *3\r\n$9\r\nsubscribe\r\n$1\r\nd\r\n:2\r\n\
              *3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n$1\r\nx\r\n\
              >3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$2\r\nhi\r\n",
            ),
            (true, b"PING\r\n"),
            (false, b"+PONG\r\n"),
        ],
        &[
            "redis @0 command=Auth arguments=3 reply=OK",
            "redis @0 command=AUTH error=ERR no",
            "redis @0 command=\\\"auth\\\" reply=OK",
            "redis @0 command=AUTO key=k arguments=2 reply=1",
            "redis @2 command=SUBSCRIBE key=ch arguments=3",
            "redis @2 command=Unsubscribe",
            "redis @2 command=GET key=a reply=x",
            "redis @4 command=PING reply=PONG",
        ],
    );
}

/// A datagram is a message of its own; a question without an answer is told at the end.
#[test]
fn datagrams_are_messages_of_their_own() {
    let mut text = Text::new(TextOptions::default(), built_in());
    let mut log = Log::default();
    let sip = text.protocol("sip").unwrap();
    let handle = text.begin(Shard(0), sip).unwrap();
    let cut_off = b"OPTIONS sip:a SIP/2.0\r\nFrom: x";
    text.datagram(handle, Timestamp(1), true, cut_off, cut_off.len(), &mut log);
    let message = b"OPTIONS sip:b SIP/2.0\r\nFrom: y\r\n\r\n";
    text.datagram(handle, Timestamp(2), true, message, message.len(), &mut log);
    text.end(handle, Timestamp(3), &mut log);
    assert_eq!(log.0[0], "! sip_line_broken");
    let last = "sip @2 method=OPTIONS uri=sip:b version=SIP/2.0 request_from=y";
    assert_eq!(log.0[1..], [last]);
}

/// Behind a gap the next message is found; bytes that were to be skipped may be missing.
#[test]
fn messages_are_found_behind_a_gap() {
    let mut text = Text::new(TextOptions::default(), built_in());
    let mut log = Log::default();
    let sip = text.protocol("sip").unwrap();
    let handle = text.begin(Shard(0), sip).unwrap();
    let begun = b"BYE sip:a SIP/2.0\r\nContent-Length: 10\r\n\r\nab";
    text.data(handle, Timestamp(1), true, begun, &mut log);
    text.gap(handle, Timestamp(1), true, 8, &mut log);
    text.data(
        handle,
        Timestamp(2),
        true,
        b"BYE sip:b SIP/2.0\r\nFro",
        &mut log,
    );
    text.gap(handle, Timestamp(3), true, 8, &mut log);
    text.data(
        handle,
        Timestamp(3),
        true,
        b"rest\r\n\r\nBYE sip:c SIP/2.0\r\n\r\n",
        &mut log,
    );
    text.end(handle, Timestamp(4), &mut log);
    assert_eq!(log.0[0], "! text_gap");
    assert!(log.0[1].contains("uri=sip:a") && log.0[1].contains("request_body_len=10"));
    assert!(log.0[2].contains("uri=sip:c"));
}

/// RFC 5321 §4.5.2: a dot alone ends every mail, also one of which bytes are missing.
#[test]
fn the_next_mail_is_found_behind_a_gap() {
    let mut text = Text::new(TextOptions::default(), built_in());
    let mut log = Log::default();
    let smtp = text.protocol("smtp").unwrap();
    let handle = text.begin(Shard(0), smtp).unwrap();
    let begun = b"HELO h\r\nMAIL FROM:<a@a>\r\nDATA\r\nSubject: one\r\n\r\nlost ";
    let rest = b"s\r\nQUIT\r\n.\r\nMAIL FROM:<b@b>\r\nDATA\r\nSubject: two\r\n\r\n.\r\n";
    text.data(handle, Timestamp(1), true, begun, &mut log);
    text.gap(handle, Timestamp(2), true, 7, &mut log);
    text.data(handle, Timestamp(3), true, rest, &mut log);
    let replies = b"354 go\r\n250 queued as 1\r\n354 go\r\n250 queued as 2\r\n";
    text.data(handle, Timestamp(4), false, replies, &mut log);
    text.end(handle, Timestamp(5), &mut log);
    let expected = [
        "! text_gap",
        "smtp @1 helo=h mailfrom=a@a subject=one last_reply=250 queued as 1",
        "smtp @3 helo=h mailfrom=b@b subject=two last_reply=250 queued as 2",
    ];
    assert_eq!(log.0, expected);
}

/// Caps hold: connections, questions, texts; each is counted.
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

/// Requests are answered in order: what has no room to wait has its answer alone, and that of
/// nobody else.
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

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(24)
    })]
    /// Interleaved connections, each cut at random: the same messages as alone and whole.
    #[test]
    fn connections_do_not_disturb_each_other(cuts in prop::collection::vec(1usize..40, 1..30)) {
        let mut text = Text::new(TextOptions::default(), built_in());
        let smtp = text.protocol("smtp").unwrap();
        let mut logs = [Log::default(), Log::default(), Log::default()];
        let handles = [0, 1, 2].map(|_| text.begin(Shard(1), smtp).unwrap());
        let mut cuts = cuts.iter().cycle();
        for (turn, (to_server, bytes)) in MAIL.iter().enumerate() {
            let mut rests = [*bytes; 3];
            while rests.iter().any(|rest| !rest.is_empty()) {
                for ((rest, handle), log) in rests.iter_mut().zip(handles).zip(&mut logs) {
                    let (piece, later) = rest.split_at(rest.len().min(*cuts.next().unwrap()));
                    *rest = later;
                    text.data(handle, Timestamp(turn as u64), *to_server, piece, log);
                }
            }
        }
        for (handle, log) in handles.into_iter().zip(&mut logs) {
            text.end(handle, Timestamp(99), log);
        }
        let alone = told("smtp", MAIL, whole);
        for log in logs {
            prop_assert_eq!(&log.0, &alone);
        }
    }
}
