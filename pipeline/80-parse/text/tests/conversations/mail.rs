//! SMTP and LMTP: how replies decide what follows, and mails in chunks.

use crate::support::{Turns, check, messages, whole};

pub(crate) const HELLO: [(bool, &[u8]); 3] = [
    (false, b"220 mx ESMTP\r\n"),
    (true, b"EHLO c\r\n"),
    (false, b"250-mx\r\n250-PIPELINING\r\n250 CHUNKING\r\n"),
];

fn after_hello(turns: Turns<'_>, expected: &[&str]) {
    let all: Vec<(bool, &[u8])> = HELLO.iter().chain(turns).copied().collect();
    check("smtp", &all, expected);
}

/// RFC 5321 §3.3: after a refused DATA, all lines are commands, also if DATA was pipelined (RFC
/// 2920 §3.1). The refusal is the answer to the mail.
#[test]
fn commands_follow_a_refused_data() {
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
    // Without MAIL there is no mail at all.
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

/// RFC 3030: chunks of any content have their announced length; header fields may continue in the
/// next chunk, and the answer to the last chunk is that to the mail.
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

/// RFC 3030 §2: a refused chunk is sent all the same, and must be skipped.
#[test]
fn refused_chunks_are_skipped() {
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

/// RFC 4954: the line after 334 is not a command, and is not kept. In LMTP (RFC 2033 §4.2), each
/// accepted recipient has a reply.
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
fn replies_stay_in_step_after_long_commands() {
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
    let lines = messages("smtp", &all, whole);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("mailfrom=xxx"), "{lines:?}");
    assert_eq!(lines[1], "! text_token_too_long");
    assert!(lines[2].starts_with("smtp @5 helo=c mailfrom=a@a rcptto=yyy"));
    assert!(lines[2].ends_with("last_reply=554 nobody"));
}

/// RFC 5321 §3.3, §4.1.4: a refused MAIL or EHLO leaves the envelope unchanged, also if commands
/// are pipelined; an accepted one begins another mail.
#[test]
fn refused_commands_leave_the_envelope_unchanged() {
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

/// A mail that breaks off is emitted as far as it is known, with the last refusal; the answer to
/// one mail is never that to another.
#[test]
fn mails_that_break_off_are_emitted_with_the_last_refusal() {
    let envelope = b"MAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\n";
    let begun = |rest: &[u8]| [envelope.as_slice(), rest].concat();
    let begin = "smtp @1 helo=c mailfrom=a@a rcptto=b@b";
    for (sent, expected) in [
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
        after_hello(
            &[(true, &sent), (false, b"250 ok\r\n550 no\r\n")],
            &[&expected],
        );
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

/// RFC 5321 §4.1.2: no byte inside a quoted local part ends the path.
#[test]
fn quoted_mailboxes_are_complete() {
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
