//! SMTP and LMTP: what a reply makes of what follows, chunks, bytes that are missing.

#![expect(clippy::unwrap_used, reason = "a test")]

mod talk;

use flowpin_packet::{Shard, Timestamp};
use flowpin_text::{Text, TextOptions, built_in};
use talk::{Log, Turns, check};

const HELLO: [(bool, &[u8]); 3] = [
    (false, b"220 mx ESMTP\r\n"),
    (true, b"EHLO c\r\n"),
    (false, b"250-mx\r\n250-PIPELINING\r\n250 CHUNKING\r\n"),
];

fn after_hello(turns: Turns<'_>, expected: &[&str]) {
    let all: Vec<(bool, &[u8])> = HELLO.iter().chain(turns).copied().collect();
    check("smtp", &all, expected);
}

/// RFC 5321 §3.3: behind a refused DATA come commands, whatever they look like; also where DATA
/// was sent with others (RFC 2920 §3.1). The refusal is the answer to the mail.
#[test]
fn behind_a_refused_data_come_commands() {
    after_hello(
        &[
            (true, b"MAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\nDATA\r\n"),
            (false, b"250 ok\r\n550 5.1.1 who\r\n554 5.5.1 nobody\r\n"),
            (true, b"XDEBUG: on\r\nMAIL FROM:<c@c>\r\n"),
            (false, b"500 what\r\n250 ok\r\n"),
            (true, b"RCPT TO:<d@d>\r\n"),
            (false, b"250 ok\r\n"),
            (true, b"DATA\r\n"),
            (false, b"354 go\r\n"),
            (true, b"QUIT\r\nSubject: x\r\n\r\n.\r\n"),
            (false, b"250 queued\r\n"),
        ],
        &[
            "smtp @1 helo=c mailfrom=a@a rcptto=b@b last_reply=554 5.5.1 nobody",
            "smtp @5 helo=c mailfrom=c@c rcptto=d@d subject=x last_reply=250 queued",
        ],
    );
    // Nothing was begun: no mail at all.
    after_hello(
        &[
            (true, b"DATA\r\n"),
            (false, b"503 5.5.1 MAIL first\r\n"),
            (true, b"RSET\r\nQUIT\r\n"),
            (false, b"250 ok\r\n221 bye\r\n"),
        ],
        &[],
    );
}

/// RFC 3030: chunks are as long as they say, whatever is in them; header fields may go on in the
/// next, and the mail's answer is that to the last.
#[test]
fn chunks_are_one_mail() {
    after_hello(
        &[
            (
                true,
                b"MAIL FROM:<a@a> BODY=BINARYMIME\r\nRCPT TO:<b@b>\r\nBDAT 20\r\n\
                  From: a@a\r\nSubject: BDAT 22\r\nlong\r\n er\r\n\r\n.\r\nQUIT\r\n\
                  BDAT 0 LAST\r\nNOOP\r\n",
            ),
            (
                false,
                b"250 ok\r\n250 ok\r\n250 20 octets\r\n250 22 octets\r\n250 queued\r\n250 ok\r\n",
            ),
            (
                true,
                b"MAIL FROM:<c@c>\r\nBDAT 16 LAST\r\nSubject: two\r\n\r\nQUIT\r\n",
            ),
            (false, b"250 ok\r\n250 queued too\r\n221 bye\r\n"),
        ],
        &[
            "smtp @1 helo=c mailfrom=a@a rcptto=b@b from=a@a subject=long er \
             last_reply=250 queued",
            "smtp @5 helo=c mailfrom=c@c subject=two last_reply=250 queued too",
        ],
    );
}

/// RFC 3030 §2: a chunk is sent, and must be read over, also where it is refused.
#[test]
fn refused_chunks_are_passed_over() {
    after_hello(
        &[
            (
                true,
                b"MAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\nBDAT 12\r\nSubject: x\r\n\
                  BDAT 6 LAST\r\nQUIT\r\n",
            ),
            (false, b"250 ok\r\n250 ok\r\n552 too much\r\n503 no\r\n"),
            (true, b"RSET\r\nMAIL FROM:<c@c>\r\nBDAT 6\r\nQUIT\r\n"),
            (false, b"250 ok\r\n250 ok\r\n452 full\r\n"),
            (true, b"RSET\r\n"),
            (false, b"250 ok\r\n"),
        ],
        &[
            "smtp @1 helo=c mailfrom=a@a rcptto=b@b subject=x last_reply=503 no",
            "smtp @5 helo=c mailfrom=c@c last_reply=452 full",
        ],
    );
}

/// RFC 4954: what follows 334 is no command, and is kept nowhere. Of LMTP (RFC 2033 §4.2) each
/// recipient that was accepted has a reply.
#[test]
fn challenges_and_recipients_have_replies_of_their_own() {
    after_hello(
        &[
            (true, b"AUTH LOGIN\r\n"),
            (false, b"334 VXNlcm5hbWU6\r\n"),
            (true, b"UVVJVA==\r\n"),
            (false, b"334 UGFzc3dvcmQ6\r\n"),
            (true, b"DATA\r\n"),
            (false, b"235 ok\r\n"),
            (true, b"XFORWARD NAME=x\r\nMAIL FROM:<a@a> SMTPUTF8\r\n"),
            (false, b"250 ok\r\n250 ok\r\n"),
            (true, b"QUIT\r\n"),
            (false, b"221 bye\r\n"),
        ],
        &["smtp @1 helo=c mailfrom=a@a"],
    );
    check(
        "smtp",
        &[
            (false, b"220 mx LMTP\r\n"),
            (true, b"LHLO c\r\n"),
            (false, b"250 mx\r\n"),
            (
                true,
                b"MAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\nRCPT TO:<no@b>\r\nRCPT TO:<c@b>\r\nDATA\r\n",
            ),
            (false, b"250 ok\r\n250 ok\r\n550 no\r\n250 ok\r\n354 go\r\n"),
            (true, b"Subject: x\r\n\r\n.\r\nNOOP\r\nMAIL FROM:<d@d>\r\n"),
            (
                false,
                b"250-for b\r\n250 b\r\n452 c full\r\n250 noop\r\n250 ok\r\n",
            ),
            (true, b"RSET\r\n"),
            (false, b"250 ok\r\n"),
        ],
        &[
            "smtp @1 helo=c mailfrom=a@a rcptto=b@b|no@b|c@b subject=x last_reply=250 b 452 c full",
            "smtp @5 helo=c mailfrom=d@d",
        ],
    );
}

/// A command that is too long is one line, and has one reply.
#[test]
fn long_commands_keep_the_step() {
    let long = [b"MAIL FROM:<".as_slice(), &[b'x'; 1200], b"@a>\r\n"].concat();
    let longer = [b"RCPT TO:<".as_slice(), &[b'y'; 20_000], b">\r\n"].concat();
    let all: Vec<(bool, &[u8])> = HELLO.to_vec();
    let more: [(bool, &[u8]); 8] = [
        (true, &long),
        (false, b"500 5.5.2 too long\r\n"),
        (true, b"MAIL FROM:<a@a>\r\n"),
        (false, b"250 ok\r\n"),
        (true, &longer),
        (false, b"501 too long\r\n"),
        (true, b"DATA\r\n"),
        (false, b"554 nobody\r\n"),
    ];
    let last: [(bool, &[u8]); 2] = [(true, b"QUIT\r\n"), (false, b"221 bye\r\n")];
    let all: Vec<(bool, &[u8])> = all.into_iter().chain(more).chain(last).collect();
    let told = talk::told("smtp", &all, talk::whole);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].contains("mailfrom=xxx"), "{told:?}");
    assert_eq!(told[1], "! text_token_too_long");
    assert!(told[2].starts_with("smtp @5 helo=c mailfrom=a@a rcptto=yyy"));
    assert!(told[2].ends_with("last_reply=554 nobody"));
}

/// Where bytes of a mail or of a chunk are missing, the envelope stays, and what follows is read in
/// step.
#[test]
fn gaps_inside_mails_and_chunks_keep_the_envelope() {
    let mut text = Text::new(TextOptions::default(), built_in());
    let mut log = Log::default();
    let smtp = text.protocol("smtp").unwrap();
    let handle = text.begin(Shard(0), smtp).unwrap();
    let mut say = |turns: &[(bool, &[u8], u64)]| {
        for &(to_server, bytes, missing) in turns {
            text.data(handle, Timestamp(1), to_server, bytes, &mut log);
            if missing > 0 {
                text.gap(handle, Timestamp(1), to_server, missing, &mut log);
            }
        }
    };
    say(&HELLO.map(|(to_server, bytes)| (to_server, bytes, 0)));
    say(&[
        (
            true,
            b"MAIL FROM:<a@a>\r\nBDAT 100\r\nSubject: one\r\nX-",
            40,
        ),
        (true, b"\r\nQUIT\r\nSubject: no\r\n", 0),
        (true, &[b'.'; 23], 0),
        (true, b"BDAT 9 LAST\r\n", 9),
        (false, b"250 ok\r\n250 ok\r\n250 queued 1\r\n", 0),
        (true, b"MAIL FROM:<b@b>\r\nRCPT TO:<c@c>\r\nDATA\r\n", 0),
        (false, b"250 ok\r\n250 ok\r\n354 go\r\n", 0),
        (true, b"Subject: two\r\nX: y\r\n", 1448),
        (true, b"QUIT\r\n.\r\n", 0),
        (false, b"250 queued 2\r\n", 0),
        (true, b"MAIL FROM:<d@d>\r\n", 15),
        (false, b"250 ok\r\n250 ok\r\n", 0),
        (true, b"DATA\r\n", 0),
        (false, b"354 go\r\n", 0),
        (true, b"Subject: three\r\n\r\n.\r\nQUIT\r\n", 0),
        (false, b"250 queued 3\r\n221 bye\r\n", 0),
    ]);
    text.end(handle, Timestamp(2), &mut log);
    assert_eq!(text.shared_bytes(), 0);
    let expected = [
        "smtp @1 helo=c mailfrom=a@a subject=one last_reply=250 queued 1",
        "! text_gap",
        "smtp @1 helo=c mailfrom=b@b rcptto=c@c subject=two last_reply=250 queued 2",
        "! text_gap",
        "smtp @1 helo=c mailfrom=d@d subject=three last_reply=250 queued 3",
    ];
    assert_eq!(log.0, expected);
}

/// RFC 5321 §3.3, §4.1.4: a MAIL or EHLO that is refused leaves the envelope as it is, also where
/// all is sent at once; one that is accepted begins another mail.
#[test]
fn refused_beginnings_change_no_envelope() {
    after_hello(
        &[
            (true, b"MAIL FROM:<a@a>\r\n"),
            (false, b"250 ok\r\n"),
            (true, b"RCPT TO:<b@b>\r\n"),
            (false, b"250 ok\r\n"),
            (true, b"MAIL FROM:<no@c>\r\n"),
            (false, b"503 5.5.1 nested\r\n"),
            (true, b"EHLO\r\nEHLO bad name\r\n"),
            (false, b"501 what\r\n501-what\r\n501 what\r\n"),
            (true, b"RCPT TO:<d@d>\r\nDATA\r\n"),
            (false, b"250 ok\r\n354 go\r\n"),
            (true, b"Subject: one\r\n\r\n.\r\n"),
            (false, b"250 queued\r\n"),
        ],
        &["smtp @1 helo=c mailfrom=a@a rcptto=b@b|d@d subject=one last_reply=250 queued"],
    );
    after_hello(
        &[
            (
                true,
                b"MAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\nMAIL FROM:<no@c>\r\nRCPT TO:<d@d>\r\n\
                  RSET\r\nMAIL FROM:<e@e>\r\nEHLO other\r\nMAIL FROM:<f@f>\r\n",
            ),
            (
                false,
                b"250 ok\r\n250 ok\r\n503 nested\r\n250 ok\r\n250 reset\r\n250 ok\r\n250 hello\r\n\
                  250 ok\r\n",
            ),
            (true, b"QUIT\r\n"),
            (false, b"221 bye\r\n"),
        ],
        &[
            "smtp @1 helo=c mailfrom=a@a rcptto=b@b|d@d last_reply=503 nested",
            "smtp @3 helo=c mailfrom=e@e",
            "smtp @3 helo=other mailfrom=f@f",
        ],
    );
}

/// Whoever goes in the middle of a mail leaves what is known of it, and the last refusal; what
/// answers one mail is never the answer to another.
#[test]
fn mails_that_break_off_are_told_with_the_last_refusal() {
    let envelope = b"MAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\n";
    let begun = |rest: &[u8]| [envelope.as_slice(), rest].concat();
    let begin = "smtp @1 helo=c mailfrom=a@a rcptto=b@b";
    for (sent, told) in [
        (begun(b""), format!("{begin} last_reply=550 no")),
        (
            begun(b"BDAT 900 LAST\r\nSubject: x\r\n\r\nQUIT\r\n"),
            format!("{begin} subject=x last_reply=550 no"),
        ),
        (
            begun(b"BDAT 12\r\nSubject: x\r\nBDAT 900\r\nDate: y\r\nX: z\r\n"),
            format!("{begin} date=y subject=x last_reply=550 no"),
        ),
    ] {
        after_hello(&[(true, &sent), (false, b"250 ok\r\n550 no\r\n")], &[&told]);
    }
    after_hello(
        &[
            (true, &begun(b"DATA\r\n")),
            (false, b"250 ok\r\n250 ok\r\n354 go\r\n"),
            (
                true,
                b"Subject: x\r\n\r\n.\r\nMAIL FROM:<c@c>\r\nRCPT TO:<no@c>\r\n",
            ),
            (false, b"250 queued\r\n250 ok\r\n550 no\r\n421 closing\r\n"),
        ],
        &[
            "smtp @1 helo=c mailfrom=a@a rcptto=b@b subject=x last_reply=250 queued",
            "smtp @5 helo=c mailfrom=c@c rcptto=no@c last_reply=421 closing",
        ],
    );
}

/// RFC 5321 §4.1.2: in a quoted local part no byte ends the path.
#[test]
fn quoted_mailboxes_are_whole() {
    after_hello(
        &[
            (
                true,
                b"MAIL FROM:<\"a b>c\"@d> AUTH=<> SIZE=3\r\nRCPT TO: <@r:\"<x\\\">\"@y>\r\n",
            ),
            (false, b"250 ok\r\n250 ok\r\n"),
        ],
        &[r#"smtp @1 helo=c mailfrom=\"a b>c\"@d rcptto=@r:\"<x\\\">\"@y"#],
    );
}

/// A mail whose end is missing ends where the server answers it, and what follows is another; the
/// rest of a chunk whose length is missing is no command that waits for a reply.
#[test]
fn mails_end_with_their_answer_where_bytes_are_missing() {
    let mut text = Text::new(TextOptions::default(), built_in());
    let mut log = Log::default();
    let smtp = text.protocol("smtp").unwrap();
    let handle = text.begin(Shard(0), smtp).unwrap();
    let mut say = |turns: &[(bool, &[u8], u64)]| {
        for &(to_server, bytes, missing) in turns {
            text.data(handle, Timestamp(1), to_server, bytes, &mut log);
            if missing > 0 {
                text.gap(handle, Timestamp(1), to_server, missing, &mut log);
            }
        }
    };
    say(&HELLO.map(|(to_server, bytes)| (to_server, bytes, 0)));
    say(&[
        // All of a mail: known before its answer, and only after it.
        (true, b"MAIL FROM:<a@a>\r\nDATA\r\n", 0),
        (false, b"250 ok\r\n354 go\r\n", 0),
        (true, b"", 900),
        (false, b"250 queued 1\r\n", 0),
        (true, b"MAIL FROM:<b@b>\r\nDATA\r\n", 0),
        (false, b"250 ok\r\n354 go\r\n", 0),
        (false, b"250 queued 2\r\n", 0),
        (true, b"", 900),
        // DATA itself.
        (true, b"MAIL FROM:<c@c>\r\n", 6),
        (false, b"250 ok\r\n354 go\r\n", 0),
        (true, b"Subject: three\r\n\r\nQUIT\r\n.\r\n", 0),
        (false, b"554 no\r\n", 0),
        // The beginning of a chunk, and of a reply.
        (true, b"MAIL FROM:<d@d>\r\n", 90),
        (true, b"rest of a line\r\nmore\r\n", 0),
        (false, b"250 ok\r\n", 0),
        (true, b"BDAT 0 LAST\r\n", 0),
        (false, b"250 queued 4\r\n", 0),
        (true, b"MAIL FROM:<e@e>\r\n", 0),
        (false, b"250 ok\r\n", 0),
    ]);
    text.end(handle, Timestamp(2), &mut log);
    let told: Vec<_> = log.0.iter().filter(|line| !line.starts_with('!')).collect();
    let expected = [
        "smtp @1 helo=c mailfrom=a@a last_reply=250 queued 1",
        "smtp @1 helo=c mailfrom=b@b last_reply=250 queued 2",
        "smtp @1 helo=c mailfrom=c@c subject=three last_reply=554 no",
        "smtp @1 helo=c mailfrom=d@d last_reply=250 queued 4",
        "smtp @1 helo=c mailfrom=e@e",
    ];
    assert_eq!(told, expected);
}

/// Replies to commands for which there was no room end no mail that follows them.
#[test]
fn replies_to_what_was_left_out_end_no_mail() {
    let options = TextOptions {
        questions_max: 4,
        ..TextOptions::default()
    };
    let mut text = Text::new(options, built_in());
    let mut log = Log::default();
    let smtp = text.protocol("smtp").unwrap();
    let handle = text.begin(Shard(0), smtp).unwrap();
    let mut turns = HELLO.to_vec();
    turns.extend([
        (true, b"MAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\n".as_slice()),
        (
            true,
            b"NOOP\r\nNOOP\r\nNOOP\r\nNOOP\r\nNOOP\r\nDATA\r\nDate: x\r\nX: y\r\n",
        ),
        (
            false,
            b"250 1\r\n250 2\r\n250 3\r\n250 4\r\n250 5\r\n250 6\r\n250 7\r\n",
        ),
        (true, b"Subject: x\r\n\r\n.\r\n"),
    ]);
    for (to_server, bytes) in turns {
        text.data(handle, Timestamp(1), to_server, bytes, &mut log);
    }
    text.end(handle, Timestamp(2), &mut log);
    assert_eq!(
        log.0,
        ["smtp @1 helo=c mailfrom=a@a rcptto=b@b date=x subject=x"]
    );
}
