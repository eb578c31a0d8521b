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
            ],
            user,
        ),
        Rule::check(
            "ftp-after-greeting",
            On::Tcp,
            &[Lead::start(b"220")],
            greeting,
        ),
    ],
};

fn user(look: &Look<'_>) -> Option<Answer> {
    let code = look.reply.get(..3)?;
    Answer::when(matches!(code, b"220" | b"331" | b"530" | b"234" | b"211"))
}

fn greeting(look: &Look<'_>) -> Option<Answer> {
    let command = look.reply.get(..4)?;
    let known: [&[u8]; 3] = [b"USER", b"AUTH", b"FEAT"];
    Answer::when(known.iter().any(|one| command.eq_ignore_ascii_case(one)))
}
