//! Post office. RFC 1939 §4: "+OK" from the server, USER, APOP or CAPA from the client.

use crate::protocols::database::is_login_or_end;
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "pop3",
    groups: &[Group::Mail],
    ports: &[110],
    rules: &[
        Rule::pattern(
            "pop3-greeting",
            On::Tcp,
            r"\+OK[^\r\n]*(?i:POP|dovecot|<[!-~]+@)",
        ),
        Rule::pattern(
            "pop3-command",
            On::Tcp,
            r"(?i)(CAPA\r\n|APOP [!-~]+ [0-9a-f]{32}\r\n)",
        ),
        Rule::check(
            "pop3-user",
            On::Tcp,
            &[
                Lead::start(b"USER "),
                Lead::start(b"user "),
                Lead::start(b"AUTH"),
            ],
            user,
        ),
        Rule::check("pop3-ok", On::Tcp, &[Lead::start(b"+OK")], ok),
    ],
};

/// FTP has USER too; the greeting tells.
fn user(look: &Look<'_>) -> Option<Answer> {
    let is_greeted = look.reply.get(..3)? == b"+OK";
    Answer::when(is_greeted && !is_login_or_end(look)?)
}

fn ok(look: &Look<'_>) -> Option<Answer> {
    let command = look.reply.get(..4)?;
    if is_login_or_end(look)? {
        return Some(Answer::No);
    }
    let known: [&[u8]; 6] = [b"USER", b"AUTH", b"APOP", b"CAPA", b"STLS", b"QUIT"];
    Answer::when(known.iter().any(|one| command.eq_ignore_ascii_case(one)))
}
