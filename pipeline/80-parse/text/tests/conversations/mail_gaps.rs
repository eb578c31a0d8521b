//! SMTP with missing bytes, and with commands for which there is no room.

use crate::mail::HELLO;
use crate::support::{Log, trial};
use flowpin_packet::Timestamp;
use flowpin_parser::Parser;
use flowpin_text::{TextOptions, built_in};

/// If bytes of a mail or of a chunk are missing, the envelope is kept, and later replies stay in
/// step.
#[test]
fn gaps_inside_mails_and_chunks_keep_the_envelope() {
    let mut text = trial(TextOptions::default(), built_in());
    let mut log = Log::default();
    let smtp = text.parser.protocol("smtp").unwrap();
    let handle = text.begin(smtp).unwrap();
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
    text.finish(&mut log);
    let expected = [
        "smtp @1 helo=c mailfrom=a@a subject=one last_reply=250 queued 1",
        "! text_gap",
        "smtp @1 helo=c mailfrom=b@b rcptto=c@c subject=two last_reply=250 queued 2",
        "! text_gap",
        "smtp @1 helo=c mailfrom=d@d subject=three last_reply=250 queued 3",
    ];
    assert_eq!(log.0, expected);
}

/// A mail whose end is missing ends with the server's answer, and another mail may follow; the rest
/// of a chunk whose length is missing is not a command that waits for a reply.
#[test]
fn the_answer_ends_a_mail_with_missing_bytes() {
    let mut text = trial(TextOptions::default(), built_in());
    let mut log = Log::default();
    let smtp = text.parser.protocol("smtp").unwrap();
    let handle = text.begin(smtp).unwrap();
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
        // A whole mail is missing: the gap is noticed before its answer, or only after it.
        (true, b"MAIL FROM:<a@a>\r\nDATA\r\n", 0),
        (false, b"250 ok\r\n354 go\r\n", 0),
        (true, b"", 900),
        (false, b"250 queued 1\r\n", 0),
        (true, b"MAIL FROM:<b@b>\r\nDATA\r\n", 0),
        (false, b"250 ok\r\n354 go\r\n", 0),
        (false, b"250 queued 2\r\n", 0),
        (true, b"", 900),
        // DATA itself is missing.
        (true, b"MAIL FROM:<c@c>\r\n", 6),
        (false, b"250 ok\r\n354 go\r\n", 0),
        (true, b"Subject: three\r\n\r\nQUIT\r\n.\r\n", 0),
        (false, b"554 no\r\n", 0),
        // The beginning of a chunk is missing, and of a reply.
        (true, b"MAIL FROM:<d@d>\r\n", 90),
        (true, b"rest of a line\r\nmore\r\n", 0),
        (false, b"250 ok\r\n", 0),
        (true, b"BDAT 0 LAST\r\n", 0),
        (false, b"250 queued 4\r\n", 0),
        (true, b"MAIL FROM:<e@e>\r\n", 0),
        (false, b"250 ok\r\n", 0),
    ]);
    text.end(handle, Timestamp(2), &mut log);
    let mails: Vec<_> = log.0.iter().filter(|line| !line.starts_with('!')).collect();
    let expected = [
        "smtp @1 helo=c mailfrom=a@a last_reply=250 queued 1",
        "smtp @1 helo=c mailfrom=b@b last_reply=250 queued 2",
        "smtp @1 helo=c mailfrom=c@c subject=three last_reply=554 no",
        "smtp @1 helo=c mailfrom=d@d last_reply=250 queued 4",
        "smtp @1 helo=c mailfrom=e@e",
    ];
    assert_eq!(mails, expected);
}

/// Replies to commands for which there was no room do not end a later mail.
#[test]
fn replies_to_commands_left_out_end_no_mail() {
    let options = TextOptions {
        questions_max: 4,
        ..TextOptions::default()
    };
    let mut text = trial(options, built_in());
    let mut log = Log::default();
    let smtp = text.parser.protocol("smtp").unwrap();
    let handle = text.begin(smtp).unwrap();
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
