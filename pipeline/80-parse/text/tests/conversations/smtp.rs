//! SMTP: mails, their answers, and the end of readable text.

use crate::support::{Log, Turns, check, messages, trial, whole};
use flowpin_packet::Timestamp;
use flowpin_parser::Parser;
use flowpin_text::{TextOptions, built_in};
use proptest::prelude::*;

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

/// RFC 5321 §4.1.1.4: the reply after 354 and the mail answers the mail; after a refused DATA,
/// commands follow again.
#[test]
fn a_mail_is_emitted_with_its_answer() {
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

/// An abandoned mail is emitted as far as it was sent: all recipients were refused, or the client
/// reset the transaction or closed the connection.
#[test]
fn abandoned_mails_are_emitted() {
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
            // The last line is incomplete.
            "! smtp_line_broken",
            "smtp @0 helo=h mailfrom=a@a rcptto=no@b",
            "smtp @1 helo=h rcptto=no@c",
            "smtp @1 helo=h mailfrom=d@d rcptto=e@e subject=cut",
        ],
    );
}

/// RFC 3207: nothing is readable after STARTTLS, and nothing is read.
#[test]
fn nothing_is_read_after_starttls() {
    check(
        "smtp",
        &[
            (true, b"EHLO x\r\nSTARTTLS\r\n"),
            (false, b"220 mx.example\r\n250-mx\r\n250 STARTTLS\r\n"),
            (false, b"220 go ahead\r\n\x16\x03\x01\x02\x00\x01"),
            (true, b"\x16\x03\x01\x02\x00\x01\n\xff\xff"),
        ],
        &["smtp @0 helo=x last_reply=220 go ahead"],
    );
}

/// RFC 3030: a mail may be sent in chunks of any content.
/// RFC 5321 §4.1.2: the local part may be quoted, and contain blanks.
#[test]
fn a_mail_in_chunks_is_emitted() {
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

/// RFC 5321 §4.5.2: a single dot ends every mail, also one with missing bytes.
#[test]
fn the_next_mail_is_found_after_a_gap() {
    let mut text = trial(TextOptions::default(), built_in());
    let mut log = Log::default();
    let smtp = text.parser.protocol("smtp").unwrap();
    let handle = text.begin(smtp).unwrap();
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

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(24)
    })]
    /// Interleaved connections, each cut at random, have the same messages as alone and whole.
    #[test]
    fn connections_do_not_disturb_each_other(cuts in prop::collection::vec(1usize..40, 1..30)) {
        let mut text = trial(TextOptions::default(), built_in());
        let smtp = text.parser.protocol("smtp").unwrap();
        let mut logs = [Log::default(), Log::default(), Log::default()];
        let handles = [0, 1, 2].map(|_| text.begin(smtp).unwrap());
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
        let alone = messages("smtp", MAIL, whole);
        for log in logs {
            prop_assert_eq!(&log.0, &alone);
        }
    }
}

/// RFC 5322 §3.6: fields that say what a mail answers and whom to answer, and one that servers of
/// web mail add.
#[test]
fn fields_of_answers_are_told() {
    check(
        "smtp",
        &[
            (true, b"MAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\nDATA\r\n"),
            (false, b"250 ok\r\n250 ok\r\n354 go\r\n"),
            (
                true,
                b"Reply-To: Ann\r\n <ann@a>\r\nIn-Reply-To: <1@b>\r\n\
                  X-Originating-IP: [192.0.2.7]\r\n\
                  \r\nReply-To: not this\r\n.\r\n",
            ),
            (false, b"250 queued\r\n"),
        ],
        &[
            "smtp @0 mailfrom=a@a rcptto=b@b reply_to=Ann <ann@a> in_reply_to=<1@b> \
             x_originating_ip=[192.0.2.7] last_reply=250 queued",
        ],
    );
}
