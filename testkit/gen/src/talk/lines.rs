//! Protocols of text lines: mail, terminal, chat.

use super::{Dialogue, Piece, Step};
use crate::options::Service;

fn client(text: &str) -> Step {
    Step::client(vec![Piece::text(text)])
}

fn server(text: &str) -> Step {
    Step::server(vec![Piece::text(text)])
}

const MAIL: &str = "From: Ann <ann@example.org>\r\nTo: Bob <bob@example.com>\r\n\
    Subject: Minutes\r\nDate: Wed, 17 Jan 2024 14:30:05 +0000\r\n\
    MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n";

/// RFC 5321: one mail a turn.
pub(super) fn smtp() -> Dialogue {
    let mail = vec![Piece::text(MAIL), Piece::Body, Piece::text("\r\n.\r\n")];
    let mut dialogue = Dialogue::new(
        Service::Smtp,
        25,
        vec![
            server("220 mail.example.com ESMTP Postfix\r\n"),
            client("EHLO relay.example.org\r\n"),
            server("250-mail.example.com\r\n250-SIZE 52428800\r\n250 8BITMIME\r\n"),
        ],
        vec![
            client("MAIL FROM:<ann@example.org>\r\n"),
            server("250 2.1.0 Ok\r\n"),
            client("RCPT TO:<bob@example.com>\r\n"),
            server("250 2.1.5 Ok\r\n"),
            client("DATA\r\n"),
            server("354 End data with <CR><LF>.<CR><LF>\r\n"),
            Step::client(mail),
            server("250 2.0.0 Ok: queued as 4F2A31\r\n"),
        ],
        vec![client("QUIT\r\n"), server("221 2.0.0 Bye\r\n")],
    );
    dialogue.turn_segments = 20;
    dialogue
}

/// RFC 1939: one mail a turn.
pub(super) fn pop3() -> Dialogue {
    let mail = vec![
        Piece::text("+OK "),
        // What follows, up to the line with the dot.
        Piece::LenAnd(u32::try_from(MAIL.len()).unwrap_or(0) + 2),
        Piece::text(" octets\r\n"),
        Piece::text(MAIL),
        Piece::Body,
        Piece::text("\r\n.\r\n"),
    ];
    let mut dialogue = Dialogue::new(
        Service::Pop3,
        110,
        vec![
            server("+OK POP3 server ready\r\n"),
            client("USER bob\r\n"),
            server("+OK\r\n"),
            client("PASS swordfish\r\n"),
            server("+OK Logged in.\r\n"),
        ],
        vec![client("RETR 1\r\n"), Step::server(mail)],
        vec![client("QUIT\r\n"), server("+OK Logging out.\r\n")],
    );
    dialogue.turn_segments = 14;
    dialogue
}

/// RFC 3501: one message a turn, as a literal.
pub(super) fn imap() -> Dialogue {
    let mail = vec![
        Piece::text("* 1 FETCH (BODY[TEXT] {"),
        Piece::BodyLen,
        Piece::text("}\r\n"),
        Piece::Body,
        Piece::text(")\r\na3 OK Fetch completed.\r\n"),
    ];
    let mut dialogue = Dialogue::new(
        Service::Imap,
        143,
        vec![
            server("* OK [CAPABILITY IMAP4rev1] ready.\r\n"),
            client("a1 LOGIN bob swordfish\r\n"),
            server("a1 OK Logged in\r\n"),
            client("a2 SELECT INBOX\r\n"),
            server("* 1 EXISTS\r\n* 0 RECENT\r\na2 OK [READ-WRITE] Select completed.\r\n"),
        ],
        vec![client("a3 FETCH 1 (BODY[TEXT])\r\n"), Step::server(mail)],
        vec![
            client("a4 LOGOUT\r\n"),
            server("* BYE Logging out\r\na4 OK Logout.\r\n"),
        ],
    );
    dialogue.turn_segments = 14;
    dialogue
}

/// RFC 854: options first, then a command and its output a turn.
pub(super) fn telnet() -> Dialogue {
    let binary = |bytes: &[u8]| vec![Piece::text(bytes)];
    let output = vec![Piece::Body, Piece::text("\r\n$ ")];
    Dialogue::new(
        Service::Telnet,
        23,
        vec![
            // DO terminal type, WILL suppress go ahead; and the answers.
            Step::server(binary(&[255, 253, 24, 255, 251, 3])),
            Step::client(binary(&[255, 252, 24, 255, 253, 3])),
            server("login: "),
            client("ann\r\n"),
            server("Password: "),
            client("swordfish\r\n"),
            server("\r\nWelcome\r\n$ "),
        ],
        vec![client("ls -l\r\n"), Step::server(output)],
        vec![client("exit\r\n"), server("logout\r\n")],
    )
}

/// RFC 2812: chat, a line each way a turn.
pub(super) fn irc() -> Dialogue {
    Dialogue::new(
        Service::Irc,
        6667,
        vec![
            client("NICK ann\r\nUSER ann 0 * :Ann\r\n"),
            server(":irc.example.net 001 ann :Welcome to the Internet Relay Network ann\r\n"),
            client("JOIN #ports\r\n"),
            server(":ann!ann@host JOIN #ports\r\n"),
        ],
        vec![
            Step::client(vec![
                Piece::text("PRIVMSG #ports :"),
                Piece::Letters,
                Piece::text("\r\n"),
            ]),
            Step::server(vec![
                Piece::text(":bob!bob@host PRIVMSG #ports :"),
                Piece::Letters,
                Piece::text("\r\n"),
            ]),
        ],
        vec![
            client("QUIT :bye\r\n"),
            server("ERROR :Closing Link: ann (Client Quit)\r\n"),
        ],
    )
}
