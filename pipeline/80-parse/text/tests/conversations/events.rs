//! What EVE alone has of mails and calls.

use crate::support::events;

/// Mailboxes stand in brackets where they were sent in brackets (RFC 5321 §4.1.2); fields of a
/// header that occur several times are a list, folded ones unfolded; files are those that the
/// headers of parts name (RFC 2183).
#[test]
fn mails_have_what_suricata_has() {
    let turns: [(bool, &[u8]); 4] = [
        (false, b"220 a\r\n"),
        (
            true,
            b"EHLO c\r\nMAIL FROM:a@a SIZE=9\r\nRCPT TO: <b@b>\r\nDATA\r\n",
        ),
        (false, b"250 c\r\n250 ok\r\n250 ok\r\n354 go\r\n"),
        (
            true,
            b"Received: from x\r\n\tby y\r\nReceived: from z\r\nFrom: a@a\r\n\r\n\
              --b\r\nContent-Disposition: attachment;\r\n filename=\"one two.txt\"\r\n\r\nx\r\n\
              --b\r\nContent-Disposition: attachment; filename=two.txt; size=3\r\n\r\n\
              Content-Disposition: attachment; filename=none\r\n--b--\r\n.\r\n",
        ),
    ];
    assert_eq!(
        events("smtp", &turns),
        [
            "smtp @1 client smtp.helo=c smtp.mail_from=a@a smtp.rcpt_to=<b@b> email.from=a@a \
             email.status=PARSE_DONE email.received=from x by y|from z \
             email.attachment=one two.txt|two.txt"
        ]
    );
}

/// RFC 2183, RFC 2231 §3 and §4: a name may be divided and encoded, and a quoted one may hold what
/// would else end it. In chunks (RFC 3030) names are found as well.
#[test]
fn attachments_are_named_in_any_form() {
    let parts = "--b\r\nContent-Disposition: attachment;\r\n filename*0=\"one; \";\r\n\
                 \tfilename*1=two.zip\r\n\r\nx\r\n\
                 --b\r\nCONTENT-DISPOSITION: inline; filename*=utf-8''%C3%A4.txt\r\n\r\n\
                 --b\r\nContent-Disposition: attachment; name=filename; filename=\"\"\r\n\r\n\
                 --b--\r\n";
    let mail = format!("From: a@a\r\n\r\n{parts}");
    let data = format!("{mail}.\r\n");
    let (first, second) = mail.split_at(90);
    let chunks = format!(
        "BDAT {}\r\n{first}BDAT {} LAST\r\n{second}",
        first.len(),
        second.len()
    );
    let expected = "email.attachment=one; two.zip|\\xc3\\xa4.txt";
    for (asked, answer, rest) in [("DATA\r\n", "354 go\r\n", &data), ("", "", &chunks)] {
        let envelope = format!("EHLO c\r\nMAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\n{asked}");
        let answers = format!("250 c\r\n250 ok\r\n250 ok\r\n{answer}");
        let turns = [
            (false, &b"220 a\r\n"[..]),
            (true, envelope.as_bytes()),
            (false, answers.as_bytes()),
            (true, rest.as_bytes()),
        ];
        let told = events("smtp", &turns);
        assert!(told.len() == 1 && told[0].ends_with(expected), "{told:?}");
    }
}

/// A session without a mail is an event: one that goes on as TLS (RFC 3207), and one that ends; not
/// one in which nobody said who they are, nor what follows a mail.
#[test]
fn sessions_without_a_mail_are_events() {
    let begin = (false, &b"220 a\r\n"[..]);
    let tls = [
        begin,
        (true, b"EHLO c\r\nSTARTTLS\r\n"),
        (false, b"250 ok\r\n220 go\r\n"),
        (true, b"\x16\x03\x01"),
    ];
    let mail = "smtp @1 client smtp.helo=c";
    let upgraded = format!("{mail} flowpin.reply=220 go");
    assert_eq!(events("smtp", &tls), [upgraded]);
    let refused = [
        begin,
        (true, b"EHLO c\r\nSTARTTLS\r\n"),
        (false, b"250 ok\r\n502 no\r\n"),
        (true, b"QUIT\r\n"),
        (false, b"221 bye\r\n"),
    ];
    assert_eq!(events("smtp", &refused), [mail]);
    let silent = [begin, (true, b"QUIT\r\n"), (false, b"221 bye\r\n")];
    assert!(events("smtp", &silent).is_empty());
    let sent = [
        begin,
        (
            true,
            b"EHLO c\r\nMAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\nDATA\r\n",
        ),
        (false, b"250 c\r\n250 ok\r\n250 ok\r\n354 go\r\n"),
        (true, b"a: b\r\n\r\n.\r\nQUIT\r\n"),
        (false, b"250 queued\r\n221 bye\r\n"),
    ];
    assert_eq!(events("smtp", &sent).len(), 1);
}

/// Each message is an event, provisional answers too (RFC 3261 §7.2), with its sender as source.
#[test]
fn calls_are_events_of_each_message() {
    let turns: [(bool, &[u8]); 3] = [
        (
            true,
            b"INVITE sip:b SIP/2.0\r\nCall-ID: 1\r\nCSeq: 1 INVITE\r\n\r\n",
        ),
        (false, b"SIP/2.0 180 Ringing\r\nCall-ID: 1\r\n\r\n"),
        (
            false,
            b"SIP/2.0 200 OK\r\nCall-ID: 1\r\nCSeq: 1 INVITE\r\n\r\n",
        ),
    ];
    assert_eq!(
        events("sip", &turns),
        [
            "sip @0 client sip.method=INVITE sip.uri=sip:b sip.version=SIP/2.0 \
             sip.request_line=INVITE sip:b SIP/2.0 flowpin.call_id=1 flowpin.cseq=1 INVITE",
            "sip @1 server sip.version=SIP/2.0 sip.code=text=180 sip.reason=Ringing \
             sip.response_line=SIP/2.0 180 Ringing flowpin.call_id=1",
            "sip @2 server sip.version=SIP/2.0 sip.code=text=200 sip.reason=OK \
             sip.response_line=SIP/2.0 200 OK flowpin.call_id=1 flowpin.cseq=1 INVITE",
        ]
    );
}
