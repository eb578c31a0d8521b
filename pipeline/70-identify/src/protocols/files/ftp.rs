//! File transfer, its commands. RFC 959 §5.4: 220 from the server, then USER.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ftp",
    groups: &[Group::Files],
    ports: &[21],
    rules: &[
        Rule::pattern(
            "ftp-greeting",
            On::Tcp,
            r"220[ -][^\r\n]*(FTP|ftp|FileZilla|Pure-)",
        ),
        Rule::check(
            "ftp-user",
            On::Tcp,
            &[
                Lead::start(b"USER "),
                Lead::start(b"AUTH TLS"),
                Lead::start(b"FEAT\r\n"),
                Lead::start(b"PORT "),
                Lead::start(b"EPRT "),
                Lead::start(b"PASV\r\n"),
                Lead::start(b"EPSV"),
            ],
            user,
        ),
        Rule::check(
            "ftp-after-greeting",
            On::Tcp,
            &[Lead::start(b"220")],
            greeting,
        ),
        Rule::check(
            "ftp-goes-on",
            On::Tcp,
            &[
                Lead::start(b"120"),
                Lead::start(b"125"),
                Lead::start(b"150"),
                Lead::start(b"226"),
                Lead::start(b"227"),
                Lead::start(b"229"),
                Lead::start(b"257"),
                Lead::start(b"350"),
                Lead::start(b"426"),
            ],
            goes_on,
        ),
        Rule::check(
            "ftp-answer",
            On::Tcp,
            &[Lead::ANY.masked(0, 0xf8, 0x30).len_min(4)],
            answer,
        ),
    ],
};

/// Where the beginning is not in the capture: a command that no other protocol has, and a code.
fn answer(look: &Look<'_>) -> Option<Answer> {
    let [first, second, third, then] = look.array(0)?;
    let is_code = matches!(first, b'1'..=b'5')
        && matches!(second, b'0'..=b'5')
        && third.is_ascii_digit()
        && matches!(then, b' ' | b'-');
    let is_command = is_command(look.reply);
    Answer::when(!look.to_server && is_code && is_command && look.reply.ends_with(b"\r\n"))
}

/// Where the beginning is not in the capture, or was so long ago that it is another connection: a
/// code that no other protocol has, as after a long transfer, and a command.
fn goes_on(look: &Look<'_>) -> Option<Answer> {
    let then = *look.bytes.get(3)?;
    if look.to_server || !matches!(then, b' ' | b'-') {
        return Some(Answer::No);
    }
    if look.reply.is_empty() && !look.ended {
        return None;
    }
    Answer::when(is_first_command(look.reply))
}

/// Whether a client begins with a command of FTP.
fn is_first_command(said: &[u8]) -> bool {
    let known: [&[u8]; 6] = [b"USER", b"AUTH", b"FEAT", b"HOST", b"CLNT", b"OPTS"];
    let command = said.get(..4).unwrap_or_default();
    known.iter().any(|one| command.eq_ignore_ascii_case(one)) || is_command(said)
}

/// Whether what the client says begins with a command that no other protocol has.
fn is_command(said: &[u8]) -> bool {
    let word = said.split(|byte| matches!(byte, b' ' | b'\r')).next();
    word.is_some_and(|word| COMMANDS.iter().any(|one| one.eq_ignore_ascii_case(word)))
}

const COMMANDS: [&[u8]; 19] = [
    b"USER", b"CWD", b"PASV", b"EPSV", b"PORT", b"EPRT", b"RETR", b"STOR", b"TYPE", b"NLST",
    b"MDTM", b"PWD", b"XPWD", b"MKD", b"RMD", b"SYST", b"SIZE", b"MLSD", b"ALLO",
];

fn user(look: &Look<'_>) -> Option<Answer> {
    let code = look.reply.get(..3)?;
    Answer::when(matches!(code, b"220" | b"331" | b"530" | b"234" | b"211"))
}

fn greeting(look: &Look<'_>) -> Option<Answer> {
    // One direction alone: nobody else asks for a password with this code.
    if memchr::memmem::find(look.bytes, b"\n331 ").is_some() {
        return Some(Answer::Yes);
    }
    look.reply.get(..4)?;
    Answer::when(is_first_command(look.reply))
}

#[cfg(test)]
mod tests {
    use crate::testing::stream;

    fn said(command: &[u8], answer: &[u8]) -> Option<&'static str> {
        stream(&[(true, command), (false, answer)], (50_000, 50_001))
    }

    /// Some clients need not log in.
    #[test]
    fn any_command_may_follow_the_greeting() {
        let turns: [(bool, &[u8]); 2] =
            [(false, b"220 ready\r\n"), (true, b"PORT 10,0,0,1,9,9\r\n")];
        assert_eq!(stream(&turns, (50_000, 50_001)), Some("ftp"));
        let mail: [(bool, &[u8]); 2] = [(false, b"220 ready\r\n"), (true, b"NOOP\r\n")];
        assert_ne!(stream(&mail, (50_000, 50_001)), Some("ftp"));
    }

    /// After hours of transfer the server speaks first, and what came before is another connection.
    #[test]
    fn a_session_that_goes_on_is_known() {
        for code in [
            "226 Transfer complete.\r\n",
            "150-Opening\r\n",
            "120 Soon.\r\n220 r\r\n",
        ] {
            for command in [
                "PASV\r\n",
                "HOST a.example\r\n",
                "RETR x\r\n",
                "opts utf8 on\r\n",
            ] {
                let turns: [(bool, &[u8]); 2] =
                    [(false, code.as_bytes()), (true, command.as_bytes())];
                assert_eq!(
                    stream(&turns, (50_000, 50_001)),
                    Some("ftp"),
                    "{code}{command}"
                );
            }
        }
        let other: [(bool, &[u8]); 2] = [(false, b"226 kHz\r\n"), (true, b"NOOP\r\n")];
        assert_eq!(stream(&other, (50_000, 50_001)), None);
    }

    /// The server's direction alone.
    #[test]
    fn a_question_for_a_password_tells() {
        let turns: [(bool, &[u8]); 1] = [(false, b"220 r\r\n331 Password?\r\n230 In.\r\n")];
        assert_eq!(stream(&turns, (50_000, 50_001)), Some("ftp"));
    }

    /// Where a capture begins later, a command and its answer tell.
    #[test]
    fn a_command_and_its_answer_tell() {
        assert_eq!(said(b"SIZE /a\r\n", b"213 261259\r\n"), Some("ftp"));
        assert_eq!(said(b"CWD x\r\n", b"250-Now there\r\n"), Some("ftp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_eq!(said(b"SIZES /a\r\n", b"213 261259\r\n"), None);
        assert_eq!(said(b"SIZE /a\r\n", b"+OK 261259\r\n"), None);
        assert_eq!(said(b"SIZE /a\r\n", b"2613 59\r\n"), None);
    }
}
