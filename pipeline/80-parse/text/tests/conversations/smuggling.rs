//! SMTP: a dot between line ends that are not both CR LF ends the mail for some servers only. Their
//! answers decide (RFC 5321 §2.3.8, §4.1.1.4).

use crate::support::check;

const SMUGGLED: &[u8] =
    b"MAIL FROM:<x@x>\r\nRCPT TO:<z@z>\r\nDATA\r\nSubject: two\r\n\r\nz\r\n.\r\n";
const ONE: &str = "smtp @1 helo=c mailfrom=a@a rcptto=b@b subject=one";
const TWO: &str = "smtp @5 helo=c mailfrom=x@x rcptto=z@z subject=two";
const ODD: &str = "! smtp_data_end_odd";

/// What a client sends behind 354, and what it and the server say then.
fn after_354(sent: &[u8], then: &[(bool, &[u8])], expected: &[&str]) {
    let begun: [(bool, &[u8]); 5] = [
        (false, b"220 mx ESMTP\r\n"),
        (true, b"EHLO c\r\nMAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\n"),
        (false, b"250 mx\r\n250 ok\r\n250 ok\r\n"),
        (true, b"DATA\r\n"),
        (false, b"354 go\r\n"),
    ];
    let turns: Vec<_> = begun
        .into_iter()
        .chain([(true, sent)])
        .chain(then.to_vec())
        .collect();
    check("smtp", &turns, expected);
}

fn mail(end: &[u8], rest: &[u8]) -> Vec<u8> {
    [b"Subject: one\r\n\r\ny".as_slice(), end, rest].concat()
}

const ENDS: [&[u8]; 4] = [b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r\n"];

/// The server goes by the RFC: one answer, one mail, and what follows it is in step.
#[test]
fn one_answer_is_one_mail() {
    for end in ENDS {
        let first = format!("{ONE} last_reply=250 one");
        after_354(
            &mail(end, SMUGGLED),
            &[
                (false, b"250 one\r\n"),
                (true, b"MAIL FROM:<c@c>\r\nRCPT TO:<d@d>\r\nDATA\r\n"),
                (false, b"250 ok\r\n250 ok\r\n354 go\r\n"),
                (true, b"Subject: three\r\n\r\n.\r\nQUIT\r\n"),
                (false, b"250 three\r\n221 bye\r\n"),
            ],
            &[
                ODD,
                &first,
                "smtp @7 helo=c mailfrom=c@c rcptto=d@d subject=three last_reply=250 three",
            ],
        );
        // QUIT with the mail, as some clients send it.
        after_354(
            &mail(end, &[SMUGGLED, b"QUIT\r\n"].concat()),
            &[(false, b"250 one\r\n221 bye\r\n")],
            &[ODD, &first],
        );
        // Nothing but lines of the mail.
        after_354(
            &mail(end, b"more\r\n.\r\nQUIT\r\n"),
            &[(false, b"250 one\r\n221 bye\r\n")],
            &[ODD, &first],
        );
    }
}

/// The server asked for a second mail: there was one.
#[test]
fn a_second_354_is_a_second_mail() {
    for end in ENDS {
        for quit in [b"".as_slice(), b"QUIT\r\n"] {
            let (first, second) = (
                format!("{ONE} last_reply=250 one"),
                format!("{TWO} last_reply=250 two"),
            );
            after_354(
                &mail(end, &[SMUGGLED, quit].concat()),
                &[
                    (
                        false,
                        b"250 one\r\n250 ok\r\n250 ok\r\n354 go\r\n250 two\r\n",
                    ),
                    (true, b"QUIT\r\n"),
                    (false, b"221 bye\r\n"),
                ],
                &[ODD, &first, &second],
            );
        }
    }
}

/// A client that ends its lines with LF alone, and waits: the server's answer says where the mail
/// ended.
#[test]
fn an_answer_before_the_true_end_ends_the_mail() {
    let first = format!("{ONE} last_reply=250 one");
    for ended in [b"Subject: one\n\ny\n.\n".as_slice(), b"Subject: one\n\n.\n"] {
        after_354(
            ended,
            &[
                (false, b"250 one\r\n"),
                (true, b"MAIL FROM:<x@x>\n"),
                (false, b"250 ok\r\n"),
                (true, b"RCPT TO:<z@z>\nDATA\n"),
                (false, b"250 ok\r\n354 go\r\n"),
                (true, b"Subject: two\n\n.\n"),
                (false, b"550 no\r\n"),
            ],
            &[
                ODD,
                &first,
                ODD,
                "smtp @7 helo=c mailfrom=x@x rcptto=z@z subject=two last_reply=550 no",
            ],
        );
    }
    // The next commands came with it, up to DATA.
    after_354(
        &mail(b"\n.\n", b"MAIL FROM:<x@x>\nRCPT TO:<z@z>\nDATA\n"),
        &[
            (false, b"250 one\r\n250 ok\r\n250 ok\r\n354 go\r\n"),
            (true, b"Subject: two\n\nz\n.\r\n"),
            (false, b"250 two\r\n"),
        ],
        &[ODD, &first, ODD, &format!("{TWO} last_reply=250 two")],
    );
}

/// What ends a mail for nobody ends none: other bytes beside the dot, or CR alone.
#[test]
fn what_is_no_end_is_none() {
    for end in [
        b"\r\n\0.\r\n".as_slice(),
        b"\r\n..\r\n",
        b"\r\n. \r\n",
        b"\n .\n",
    ] {
        after_354(
            &mail(end, SMUGGLED),
            &[(false, b"250 one\r\n")],
            &[&format!("{ONE} last_reply=250 one")],
        );
    }
}
